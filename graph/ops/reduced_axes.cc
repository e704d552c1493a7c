// Reads the axes and counts what they reduce.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/reduced_axes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ops/op_checks.h"

namespace partita {

std::vector<bool> ReducedDims(const OpView& op) {
  const int rank = op.operand_type(0).rank();
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : op.attr_ints("axes")) {
    if (axis < -rank || axis >= rank) return {};
    const int64_t dim = axis < 0 ? axis + rank : axis;
    if (reduced[dim]) return {};
    reduced[dim] = true;
  }
  return reduced;
}

absl::Status CheckReducedAxes(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  if (ReducedDims(op).size() == x.dims.size() &&
      (!x.dims.empty() || op.attr_ints("axes").empty())) {
    return absl::OkStatus();
  }
  return BadOp(
      op,
      absl::StrCat("axes = [", absl::StrJoin(op.attr_ints("axes"), ", "),
                   "] on ", x.ToString()),
      x.dims.empty() ? "none: the operand has no dimension"
                     : absl::StrCat("each of ", -x.rank(), "..", x.rank() - 1,
                                    " at most once"),
      "list the dimensions to reduce");
}

Shape ResultStrides(const OpView& op) {
  const std::vector<bool> reduced = ReducedDims(op);
  Shape kept = op.operand_type(0).dims;
  for (size_t d = 0; d < kept.size(); ++d) {
    if (reduced[d]) kept[d] = 1;
  }
  Shape strides = RowMajorStrides(kept);
  for (size_t d = 0; d < kept.size(); ++d) {
    if (reduced[d]) strides[d] = 0;
  }
  return strides;
}

double ReducedCount(const OpView& op) {
  const std::vector<bool> reduced = ReducedDims(op);
  double count = 1;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d]) count *= op.operand_type(0).dims[d];
  }
  return count;
}

Cost ReductionCost(const OpView& op) {
  const TensorType x = op.operand_type(0).RowMajor();
  return {.flops = 1.0 * x.num_elements(),
          .bytes = 1.0 * op.num_operands() * x.num_bytes() +
                   op.result_type(0).RowMajor().num_bytes()};
}

}  // namespace partita
