// Transcendental functions in terms of basic arithmetic.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_
#define PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// All functions are accurate to a few units in the last place for all
// arguments, including denormals, infinities and NaN. These take and return
// f32 or f64:
Register Exp(Register x);
Register Expm1(Register x);
Register Log(Register x);
Register Log1p(Register x);  // for finite x from 0 on
Register Tanh(Register x);
Register Sigmoid(Register x);
Register Softplus(Register x);
Register GeluByTanh(Register x);
Register Sinh(Register x);
Register Cosh(Register x);
Register Asinh(Register x);
Register Acosh(Register x);
Register Atanh(Register x);
Register Asin(Register x);
Register Acos(Register x);
Register Atan(Register x);
// A number that is not negative with the sign of another.
Register WithSign(Register magnitude, Register sign_of);

// These f32 only:
Register Erf(Register x);
// x times the normal distribution's integral up to x, tail included.
Register GeluByErf(Register x);
// The derivative of GeluByErf.
Register GeluSlope(Register x);
Register Sin(Register x);
Register Cos(Register x);
Register Tan(Register x);
// x to the power of y, as std::pow, where each may be f64. Computed in f64.
Register Power(Register x, Register y);
// The remainder of a / b with the sign of a, as std::fmod: exact.
Register FloatRemainder(Register a, Register b);

// 2^n e^rest for |rest| <= ln 2 / 2 and an i32 n in [-150, 128].
Register ScaledExp(Register rest, Register n);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_FLOAT_FUNCTIONS_H_
