// Shape and size: extents as a value.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <vector>

#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

// The requested dimensions [begin, end), clamped to existing ones.
struct Range {
  int64_t begin;
  int64_t end;
};
Range RangeOf(const OpView& op) {
  const int64_t rank = op.operand_type(0).rank();
  const auto clamp = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t begin = clamp(op.attr_int("start"));
  return {begin, std::max(begin, clamp(op.attr_int("end")))};
}

absl::Status InferShape(const OpView& op, Types& results) {
  const Range range = RangeOf(op);
  return results.Set(0, {DType::kI64, {range.end - range.begin}, {}});
}

absl::Status EvaluateShape(const OpView& op, absl::Span<const HostTensor> in,
                           absl::Span<HostTensor> out) {
  const Range range = RangeOf(op);
  std::copy(in[0].type().dims.begin() + range.begin,
            in[0].type().dims.begin() + range.end,
            out[0].data<int64_t>().begin());
  return absl::OkStatus();
}

absl::Status InferSize(const OpView& op, Types& results) {
  return results.Set(0, {DType::kI64, {}, {}});
}

absl::Status EvaluateSize(const OpView& op, absl::Span<const HostTensor> in,
                          absl::Span<HostTensor> out) {
  out[0].data<int64_t>()[0] = in[0].type().num_elements();
  return absl::OkStatus();
}

std::vector<OpSample> ShapeSamples() {
  return {{{F32({3, 5, 6})}, {{"start", 1}}}};
}

std::vector<OpSample> SizeSamples() { return {{{F32({3, 5, 6})}}}; }

}  // namespace

extern constinit const OpDef kShape = {
    .name = "shape",
    .doc =
        "The extents of dimensions start..end - 1; negative ones count from "
        "the end.",
    .operands = {{{"x"}}},
    .attrs = {{IntAttr("start", 0),
               IntAttr("end", std::numeric_limits<int64_t>::max())}},
    .infer = InferShape,
    .eval = EvaluateShape,
    .no_gradient = "the result is a position or an extent",
    .cost = WriteCost,
    .dimension_rule = WholeRule,
    .samples = ShapeSamples,
};

extern constinit const OpDef kSize = {
    .name = "size",
    .doc = "The number of elements.",
    .operands = {{{"x"}}},
    .infer = InferSize,
    .eval = EvaluateSize,
    .no_gradient = "the result is a position or an extent",
    .cost = WriteCost,
    .dimension_rule = WholeRule,
    .samples = SizeSamples,
};

}  // namespace partita
