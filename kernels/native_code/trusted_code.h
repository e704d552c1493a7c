// The generated code that this process may run.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_NATIVE_CODE_TRUSTED_CODE_H_
#define PARTITA_KERNELS_NATIVE_CODE_TRUSTED_CODE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/kernel_catalog.h"
#include "kernels/codegen/program.h"

namespace partita {

// True if this process may use the instructions of a code object's target.
bool ProcessorRuns(absl::string_view target);

// Maps the code object, once for all with the same bytes and until the end of
// the process. It is a program: call this only for code that this process made,
// or whose plan the user trusts. Code that this processor cannot run is
// ignored. InvalidArgument if it is not a shared object. Thread safe.
absl::Status TrustCode(const CodeObject& code);

// The function of a trusted code object for the target; null if there is none.
// Thread safe.
ElementwiseEntry FindEntry(absl::string_view target, const std::string& name);

}  // namespace partita

#endif  // PARTITA_KERNELS_NATIVE_CODE_TRUSTED_CODE_H_
