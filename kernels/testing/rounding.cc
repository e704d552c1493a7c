// Units of the dtypes, and the flops of a result.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/testing/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/op_def.h"

namespace partita {

double UnitInTheLastPlace(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::ldexp(1, -52);
    case DType::kF32:
      return std::ldexp(1, -23);
    case DType::kF16:
      return std::ldexp(1, -10);
    case DType::kBF16:
      return std::ldexp(1, -7);
    default:
      return 0;
  }
}

double FlopsPerResult(const OpView& node) {
  const auto results = std::max<int64_t>(1, node.result_type(0).num_elements());
  return node.op().cost(node).flops / static_cast<double>(results);
}

}  // namespace partita
