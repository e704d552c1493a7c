// Pairs of as many elements of one size.
// SPDX-License-Identifier: Apache-2.0

#include "graph/in_place.h"

namespace partita {

std::vector<InPlacePair> ElementwiseInPlace(const OpView& node) {
  std::vector<InPlacePair> pairs;
  for (int r = 0; r < node.num_results(); ++r) {
    const TensorType& result = node.result_type(r);
    if (result.dims != node.result_type(0).dims) return {};
    for (int i = 0; i < node.num_operands(); ++i) {
      const TensorType& operand = node.operand_type(i);
      if (operand.dims == result.dims &&
          BitsOf(operand.dtype) == BitsOf(result.dtype)) {
        pairs.push_back({.operand = i, .result = r});
      }
    }
  }
  return pairs;
}

}  // namespace partita
