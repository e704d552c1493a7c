// Transcendental f32 functions in terms of basic arithmetic.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_
#define PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// All functions take and return f32, accurate to a few units in the last place
// for all arguments, including denormals, infinities and NaN.
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
