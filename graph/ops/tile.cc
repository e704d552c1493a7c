// Tile: the whole operand repeated along each dimension.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  TensorType type = op.operand_type(0).RowMajor();
  PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "repeats", type.rank()));
  const std::vector<int64_t>& repeats = op.attr_ints("repeats");
  for (int d = 0; d < type.rank(); ++d) {
    const int64_t most = kMaxTensorBytes / std::max<int64_t>(type.dims[d], 1);
    if (repeats[d] < 0 || repeats[d] > most) {
      return BadExtents(
          op,
          absl::StrCat("repeats = [", absl::StrJoin(repeats, ", "), "] for ",
                       Describe(op, 0)),
          absl::StrCat("0..", most, " in dimension ", d), "correct repeats");
    }
    type.dims[d] *= repeats[d];
  }
  return results.Set(0, type);
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  std::vector<std::vector<int64_t>> sources;
  for (int d = 0; d < in[0].type().rank(); ++d) {
    std::vector<int64_t>& source = sources.emplace_back();
    for (int64_t i = 0; i < out[0].type().dims[d]; ++i) {
      source.push_back(i % in[0].type().dims[d]);
    }
  }
  CopyByIndex(in[0], sources, out[0]);
  return absl::OkStatus();
}

// [x] -> [r x]: the repeats may be split, x is whole.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    const int r = rule.Kept(absl::StrCat("r", d), op.attr_ints("repeats")[d]);
    const int x = rule.Kept(absl::StrCat("d", d), op.operand_type(0).dims[d]);
    rule.Operand(0, d, x).Result(0, d, r).Result(0, d, x);
  }
  return rule.Finish();
}

void ShardAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  const int dim = ResultDimension(op, factor);
  std::vector<int64_t> repeats = op.attr_ints("repeats");
  if (dim < 0 || repeats[dim] == 1) return;
  repeats[dim] = end - begin;
  attributes.Set("repeats", repeats);
}

// The sum of the repetitions, one dimension after another: [r x] -> [r, x] ->
// [x].
absl::Status Gradient(GradBuilder& b) {
  const std::vector<int64_t> repeats = b.op().attr_ints("repeats");
  const Shape x = b.operand(0).dims();
  Term sum = b.grad(0);
  for (size_t d = 0; d < x.size(); ++d) {
    if (repeats[d] == 1) continue;
    Shape whole = sum.dims();
    Shape parts = whole;
    parts[d] = repeats[d];
    parts.insert(parts.begin() + d + 1, x[d]);
    whole[d] = x[d];
    sum =
        ReshapeTo(Sum(ReshapeTo(sum, parts), {static_cast<int64_t>(d)}), whole);
  }
  b.Yield(0, sum);
  return b.status();
}

std::vector<OpSample> Samples() {
  return {{{F32({4, 3, 5})}, {{"repeats", Ints{3, 1, 2}}}}};
}

}  // namespace

extern constinit const OpDef kTile = {
    .name = "tile",
    .doc = "The whole operand repeated along each dimension.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("repeats", AttributeKind::kInts)}},
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .shard_attributes = ShardAttributes,
    .samples = Samples,
};

}  // namespace partita
