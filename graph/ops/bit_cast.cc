// Bit cast: the same bits as elements of another type of the same width.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/indexing.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  const DType to = op.attr_dtype("to");
  if (BitsOf(to) != BitsOf(x.dtype)) {
    return BadOp(op, absl::StrCat(Describe(op, 0), " as ", DTypeName(to)),
                 absl::StrCat("a type of ", BitsOf(x.dtype), " bits"),
                 "name one as wide, or cast");
  }
  return results.Set(0, {to, x.dims, {}});
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  CopyBytes(in[0], out[0]);
  NormalizeBools(out[0]);
  return absl::OkStatus();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 3, 5})}, {{"to", DType::kI32}}},
      {{I32({4, 3})}, {{"to", DType::kU32}}},
  };
}

}  // namespace

extern constinit const OpDef kBitCast = {
    .name = "bit_cast",
    .doc =
        "The bits of x as elements of another type of the same width; as bool, "
        "whether any bit is set.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("to", AttributeKind::kDType)}},
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "a function of bits has no derivative",
    .cost = MoveCost,
    .dimension_rule = BroadcastRule,
    .samples = Samples,
};

}  // namespace partita
