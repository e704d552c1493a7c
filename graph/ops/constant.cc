// Constant: bytes of the module's literal pool.
// SPDX-License-Identifier: Apache-2.0

#include "graph/core_ops.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const LiteralId literal = op.attr_literal("value");
  if (!literal.valid() || literal.index >= op.graph().literals().size()) {
    return BadOp(op, "a constant that the module does not hold",
                 "one of its literals", "add the bytes to the literal pool");
  }
  return results.Set(0, op.graph().literals().type(literal).RowMajor());
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor>,
                      absl::Span<HostTensor> results) {
  const LiteralPool& literals = op.graph().literals();
  const LiteralId literal = op.attr_literal("value");
  if (!literals.has_bytes(literal)) {
    return absl::FailedPreconditionError(
        "found a constant that is only declared; expected its bytes");
  }
  ConvertLayout(literals.tensor(literal), results[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView&) { return {}; }

}  // namespace

extern constinit const OpDef kConstant = {
    .name = "constant",
    .doc = "Bytes that are known at compile time.",
    .attrs = {{RequiredAttr("value", AttributeKind::kLiteral)}},
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "a leaf: gradients end there",
    .cost = EstimateCost,
    .dimension_rule = WholeRule,
};

}  // namespace partita
