// Gather: slices of one axis, selected by indices.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/indexing.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  const TensorType& indices = op.operand_type(1);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kIntegers));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", x.rank()));
  const int axis = AxisOf(op);
  Shape dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return results.Set(0, {x.dtype, dims, {}});
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const AxisLines lines(in[0].type().dims, AxisOf(op));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> indices,
                           ReadIndices(op, in[1], {lines.extent}));
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  const int64_t bytes = lines.inner * BitsOf(in[0].type().dtype) / 8;
  std::byte* to = out[0].bytes();
  for (int64_t o = 0; o < lines.outer; ++o) {
    const std::byte* from = in[0].bytes() + o * lines.extent * bytes;
    for (int64_t index : indices) {
      std::memcpy(to, from + index * bytes, bytes);
      to += bytes;
    }
  }
  return absl::OkStatus();
}

// [a... x b...], [i...] -> [a... i... b...]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const TensorType& indices = op.operand_type(1);
  const int axis = AxisOf(op);
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    if (d == axis) continue;
    rule.Keep(absl::StrCat("d", d), d, d < axis ? d : d + indices.rank() - 1);
  }
  for (int d = 0; d < indices.rank(); ++d) {
    const int factor = rule.Kept(absl::StrCat("i", d), indices.dims[d]);
    rule.Operand(1, d, factor).Result(0, axis + d, factor);
  }
  return rule.Finish();
}

absl::Status Gradient(GradBuilder& b) {
  const int64_t axis = AxisOf(b.op());
  const int64_t extent = b.operand(0).dims()[axis];
  b.Yield(0, Apply(kGatherGradient, {b.grad(0), b.operand(1)},
                   {{"axis", axis}, {"extent", extent}}));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 6, 5}), I64({3, 2}, -6, 5)}, {{"axis", 1}}},
      {{F32({7, 5}), I32({}, 0, 6)}},
  };
}

}  // namespace

extern constinit const OpDef kGather = {
    .name = "gather",
    .doc =
        "The slices of x along an axis at the indices; a negative index counts "
        "from the end.",
    .operands = {{{"x"}, {"indices"}}},
    .attrs = {{IntAttr("axis", 0)}},
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
