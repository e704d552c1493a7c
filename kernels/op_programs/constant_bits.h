// Constants of any dtype as bits.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_CONSTANT_BITS_H_
#define PARTITA_KERNELS_OP_PROGRAMS_CONSTANT_BITS_H_

#include "graph/dtype.h"
#include "graph/number.h"
#include "kernels/codegen/index_builder.h"

namespace partita {

// The number as an element of the dtype, of the type BitsTypeOf(dtype).
Register BitsOfNumber(const IndexReader& read, const Number& number,
                      DType dtype);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_CONSTANT_BITS_H_
