// Transcendental f32 functions in terms of basic arithmetic.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_
#define PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// All functions of one argument take and return f32, accurate to a few units in
// the last place for all arguments, including denormals, infinities and NaN.
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
Register Sin(Register x);
Register Cos(Register x);
Register Tan(Register x);
// x to the power of y, as std::pow. Computed in f64.
Register Power(Register x, Register y);

// 2^n e^rest for |rest| <= ln 2 / 2 and an i32 n in [-150, 128].
Register ScaledExp(Register rest, Register n);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_
