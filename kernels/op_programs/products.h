// Sums of products, as steps of an index program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_PRODUCTS_H_
#define PARTITA_KERNELS_OP_PROGRAMS_PRODUCTS_H_

#include "kernels/op_programs/index_node.h"

namespace partita {

// sum + a * b: floats rounded once with fma; integers wrap.
inline Register AddProduct(Register sum, Register a, Register b) {
  return IsFloatType(sum.type) ? Fma(a, b, sum) : sum + a * b;
}

// Stores the sum, which is the state, as an element of operand 0's type.
inline void StoreSum(IndexNode& node) {
  const ScalarType type = node.program().operands[0].type;
  node.LastValue(type, [](const IndexReader& read) { return read.State(0); });
}

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_PRODUCTS_H_
