// Exponentials, logarithms and arc tangents in f64, which the functions of
// float_functions.h are made of for such arguments.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_DOUBLE_FUNCTIONS_H_
#define PARTITA_KERNELS_CODEGEN_DOUBLE_FUNCTIONS_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// All take and return f64, accurate to a few units in the last place for all
// arguments, including denormals, infinities and NaN.
Register ExpInF64(Register x);
Register Expm1InF64(Register x);
Register LogInF64(Register x);
Register AtanInF64(Register x);  // of x that is not negative
// a to the power of y for a that is not negative and not 1, or NaN.
Register PowerOfMagnitudeInF64(Register a, Register y);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_DOUBLE_FUNCTIONS_H_
