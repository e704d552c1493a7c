// Elements that programs compute with in wider registers: 16-bit floats in f32,
// integers of 8 and 16 bits in i32.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_NARROW_TYPES_H_
#define PARTITA_KERNELS_CODEGEN_NARROW_TYPES_H_

#include <cstdint>

#include "kernels/codegen/program_builder.h"

namespace partita {

// Of at most 16 bits. A bool is none.
bool IsNarrowInteger(ScalarType type);

// The type in which elements of `type` are computed with.
ScalarType ComputedType(ScalarType type);
// A loaded element in that type.
Register Loaded(Register element);
// The value that an element of `type` has after `x` is stored in it: floats are
// rounded to nearest even, integers wrap. `x` is of the computed type.
Register RoundedTo(ScalarType type, Register x);
// The element of `type` for such a value, and for any.
Register Narrowed(ScalarType type, Register x);
Register StoredAs(ScalarType type, Register x);

// The same for ops that count with bools, as 0 and 1 in i32; any i32 but 0 is
// true.
ScalarType NumberType(ScalarType type);
Register LoadedNumber(Register element);
Register RoundedNumber(ScalarType type, Register x);
Register StoredNumber(ScalarType type, Register x);

// What StoredAs(type, ...) makes the op `cast` of a number: floats are rounded
// once, or truncated toward zero and clamped, NaN to 0; integers wrap, and
// become bf16 by way of f64; a bool is whether x is not zero.
Register CastFor(ScalarType type, Register x);

// The range of an integer type; of u64 only the bits.
int64_t LeastOf(ScalarType integer);
int64_t GreatestOf(ScalarType integer);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_NARROW_TYPES_H_
