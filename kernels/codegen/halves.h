// 16-bit floats in programs: 16 bits in memory, the f32 of the same value in
// registers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_HALVES_H_
#define PARTITA_KERNELS_CODEGEN_HALVES_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// kBF16 or kF16.
bool IsHalf(ScalarType type);
// The f32 of a loaded 16-bit float.
Register Upcast(Register half);
// The f32 of the nearest value of type `half`, ties to even; NaN stays NaN.
Register RoundTo(ScalarType half, Register x);
// The 16 bits of an f32 that RoundTo or Upcast returned.
Register Narrow(ScalarType half, Register x);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_HALVES_H_
