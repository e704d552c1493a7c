// Transcendental functions of f32, spelled out in basic arithmetic.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_
#define PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// All take and give f32, within a few units in the last place, over all
// arguments: denormals, infinities and NaN included.
Register Exp(Register x);
Register Expm1(Register x);
Register Log(Register x);
Register Log1p(Register x);  // for x in [0, 1]
Register Tanh(Register x);
Register Sigmoid(Register x);
Register Softplus(Register x);
Register Erf(Register x);
// x times the normal distribution's integral up to x, tail included.
Register GeluByErf(Register x);
Register GeluByTanh(Register x);
// The derivative of GeluByErf.
Register GeluSlope(Register x);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_
