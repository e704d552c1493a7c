// Arithmetic on f32 and f64.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_FLOATS_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_FLOATS_H_

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

// The function of an instruction on .f32 or .f64 that computes, rounds to an
// integer ("cvt.rni") or compares ("setp.lt"). Null if there is none.
Evaluate FindOnFloats(absl::string_view operation, Type type);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_FLOATS_H_
