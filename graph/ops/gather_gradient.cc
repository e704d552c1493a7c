// Gather gradient: adds slices up by index; also the gradient of an embedding
// table.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/indexing.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

// The extents of the result; its axis replaces all dimensions of the indices.
int ResultRank(const OpView& op) {
  return op.operand_type(0).rank() - op.operand_type(1).rank() + 1;
}
int Axis(const OpView& op) { return AxisAttr(op, "axis", ResultRank(op)); }

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& dy = op.operand_type(0);
  const TensorType& indices = op.operand_type(1);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kIntegers));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, indices.rank()));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", ResultRank(op)));
  const int axis = Axis(op);
  const auto indexed =
      absl::MakeConstSpan(dy.dims).subspan(axis, indices.dims.size());
  if (indexed != absl::MakeConstSpan(indices.dims)) {
    return BadOp(op, Describe(op, 0),
                 absl::StrCat("the extents of ", Describe(op, 1),
                              " from dimension ", axis, " on"),
                 "correct axis or the indices");
  }
  Shape dims(dy.dims.begin(), dy.dims.begin() + axis);
  dims.push_back(op.attr_int("extent"));
  dims.insert(dims.end(), dy.dims.begin() + axis + indices.rank(),
              dy.dims.end());
  return results.Set(0, {dy.dtype, dims, {}});
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const AxisLines lines(out[0].type().dims, Axis(op));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> indices,
                           ReadIndices(op, in[1], {lines.extent}));
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    std::vector<Wide<T>> sums(out[0].type().num_elements(), 0);
    const T* from = reinterpret_cast<const T*>(in[0].bytes());
    for (int64_t o = 0; o < lines.outer; ++o) {
      for (int64_t index : indices) {
        Wide<T>* to = sums.data() + (o * lines.extent + index) * lines.inner;
        for (int64_t n = 0; n < lines.inner; ++n) {
          to[n] += static_cast<Wide<T>>(*from++);
        }
      }
    }
    absl::Span<T> result = out[0].data<T>();
    for (size_t i = 0; i < sums.size(); ++i) result[i] = Narrow<T>(sums[i]);
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  return {.flops = 1.0 * op.operand_type(0).num_elements(),
          .bytes = BytesAccessedOnce(op)};
}

// [a... i... b...], [i...] -> [a... x b...]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const TensorType& indices = op.operand_type(1);
  const int axis = Axis(op);
  for (int d = 0; d < ResultRank(op); ++d) {
    if (d == axis) continue;
    rule.Keep(absl::StrCat("d", d), d < axis ? d : d + indices.rank() - 1, d);
  }
  for (int d = 0; d < indices.rank(); ++d) {
    const int factor =
        rule.Reduced(absl::StrCat("i", d), indices.dims[d], Reduction::kSum);
    rule.Operand(0, axis + d, factor).Operand(1, d, factor);
  }
  return rule.Finish();
}

absl::Status Gradient(GradBuilder& b) {
  const int64_t axis = Axis(b.op());
  b.Yield(0, Apply(kGather, {b.grad(0), b.operand(1)}, {{"axis", axis}}));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 3, 2, 5}), I64({3, 2}, -6, 5)}, {{"axis", 1}, {"extent", 6}}},
      {{F32({7, 5}), I64({7}, 0, 3)}, {{"extent", 4}}},
  };
}

}  // namespace

extern constinit const OpDef kGatherGradient = {
    .name = "gather_gradient",
    .doc =
        "The gradient of a gather with respect to x, which has this extent "
        "along the axis: slices of dy, the gradient of its result, added up by "
        "index.",
    .operands = {{{"dy"}, {"indices"}}},
    .attrs = {{IntAttr("axis", 0),
               RequiredAttr("extent", AttributeKind::kInt)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
