// Conversions between types.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_CONVERSIONS_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_CONVERSIONS_H_

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

// The function of "cvt" with its rounding: "cvt.rn". Null if there is none.
Evaluate FindConversion(absl::string_view operation, Type to, Type from);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_CONVERSIONS_H_
