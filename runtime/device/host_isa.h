// Whether this processor has the instruction set that a plan was made for.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_HOST_ISA_H_
#define PARTITA_RUNTIME_DEVICE_HOST_ISA_H_

#include "absl/strings/string_view.h"

namespace partita {

// For the names of machine files: "avx512", "avx2", "sse4"; an empty one asks
// for nothing. False for names that it does not know.
bool HostHasIsa(absl::string_view isa);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_HOST_ISA_H_
