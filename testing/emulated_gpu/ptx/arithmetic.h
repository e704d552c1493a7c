// The exact meaning of the instructions that compute.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_ARITHMETIC_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_ARITHMETIC_H_

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

// The function of an instruction: its name with the modifiers that are not
// types ("add.rn", "setp.lt", "mul.wide"), and its types; the second is that of
// the source of a conversion. Null if there is none.
Evaluate FindEvaluate(absl::string_view operation, Type type, Type from);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_ARITHMETIC_H_
