// Costs that many ops share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_OP_COST_H_
#define PARTITA_GRAPH_OPS_OP_COST_H_

#include "graph/op_def.h"

namespace partita {

// All operands and results, row-major, each read or written once.
inline double BytesAccessedOnce(const OpView& op) {
  double bytes = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    bytes += op.operand_type(i).RowMajor().num_bytes();
  }
  for (int i = 0; i < op.num_results(); ++i) {
    bytes += op.result_type(i).RowMajor().num_bytes();
  }
  return bytes;
}

// Writes result 0, reads nothing.
inline Cost WriteCost(const OpView& op) {
  return {.flops = 0, .bytes = 1.0 * op.result_type(0).RowMajor().num_bytes()};
}

// `flops` for each element of operand 0, whose bytes are accessed `accesses`
// times.
template <int flops, int accesses = 2>
Cost CostPerElement(const OpView& op) {
  const TensorType x = op.operand_type(0).RowMajor();
  return {.flops = 1.0 * flops * x.num_elements(),
          .bytes = 1.0 * accesses * x.num_bytes()};
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_OP_COST_H_
