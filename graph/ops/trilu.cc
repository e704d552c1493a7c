// Trilu: the upper or lower triangle of matrices, the rest zero.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 2));
  const int64_t k = op.attr_int("k");
  if (k < -kMaxTensorBytes || k > kMaxTensorBytes) {
    return BadOp(op, absl::StrCat("k ", k),
                 absl::StrCat(-kMaxTensorBytes, "..", kMaxTensorBytes),
                 "correct k");
  }
  return results.Set(0, op.operand_type(0).RowMajor());
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const Shape& dims = in[0].type().dims;
  const int64_t rows = dims[dims.size() - 2];
  const int64_t columns = dims.back();
  const bool upper = op.attr_bool("upper");
  const int64_t bytes = BitsOf(in[0].type().dtype) / 8;
  if (in[0].type().num_elements() == 0) return absl::OkStatus();
  const int64_t lines = in[0].type().num_elements() / columns;
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t edge = line % rows + op.attr_int("k");
    const int64_t begin = upper ? std::clamp<int64_t>(edge, 0, columns) : 0;
    const int64_t end =
        upper ? columns : std::clamp<int64_t>(edge + 1, 0, columns);
    const int64_t offset = (line * columns + begin) * bytes;
    std::copy_n(in[0].bytes() + offset, (end - begin) * bytes,
                out[0].bytes() + offset);
  }
  return absl::OkStatus();
}

// Row i of a shard that starts at row b is row b + i, so its diagonal moves.
void ShardAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  const int dim = ResultDimension(op, factor);
  const int rank = op.operand_type(0).rank();
  if (dim == rank - 2) attributes.Set("k", op.attr_int("k") + begin);
  if (dim == rank - 1) attributes.Set("k", op.attr_int("k") - begin);
}

absl::Status Gradient(GradBuilder& b) {
  b.Yield(0, Apply(kTrilu, {b.grad(0)}, b.op().node().attributes));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({3, 5, 6})}, {{"k", 1}}},
      {{I32({3, 5, 6})}, {{"upper", false}, {"k", -1}}},
  };
}

}  // namespace

extern constinit const OpDef kTrilu = {
    .name = "trilu",
    .doc =
        "The elements on and above (or below) diagonal k of matrices, zero "
        "elsewhere.",
    .operands = {{{"x"}}},
    .attrs = {{BoolAttr("upper", true), IntAttr("k", 0)}},
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = BroadcastRule,
    .shard_attributes = ShardAttributes,
    .samples = Samples,
};

}  // namespace partita
