// A bf16 is the upper half of an f32.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_BF16_H_
#define PARTITA_KERNELS_CODEGEN_BF16_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// The f32 of the same value.
Register WidenBf16(Register x);
// The nearest bf16 of an f32, of two the even one; a NaN stays one.
Register NarrowToBf16(Register x);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_BF16_H_
