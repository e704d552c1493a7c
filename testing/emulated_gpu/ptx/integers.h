// Arithmetic on integers and predicates.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_INTEGERS_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_INTEGERS_H_

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

// The function of an instruction on integers of `type`, or on predicates, that
// computes or compares ("setp.lt"). Null if there is none.
Evaluate FindOnIntegers(absl::string_view operation, Type type);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_INTEGERS_H_
