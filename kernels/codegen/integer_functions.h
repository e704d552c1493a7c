// Integer functions that are defined for all numbers, in terms of a program's
// instructions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INTEGER_FUNCTIONS_H_
#define PARTITA_KERNELS_CODEGEN_INTEGER_FUNCTIONS_H_

#include "kernels/codegen/program_builder.h"

namespace partita {

// a / b toward zero; 0 if b is 0. Wraps.
Register IntegerQuotient(Register a, Register b);
// a - b (a / b), which has the sign of a; 0 if b is 0.
Register IntegerRemainder(Register a, Register b);

// a shifted by b bits, zeros coming in; both are not negative.
Register ShiftedLeft(Register a, Register b);
Register ShiftedRight(Register a, Register b);

// The integer part of a to the power of n, which wraps; `bits` of n count, and
// a sign if it has one. Both are of 64 bits where one is signed, so that a u64
// is a signed number.
Register IntegerPower(Register a, Register n, int bits);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INTEGER_FUNCTIONS_H_
