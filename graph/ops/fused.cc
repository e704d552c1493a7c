// Fused: several ops, in a body, computed by one kernel.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/ops/fused_rule.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const Graph& body = op.region(0);
  if (static_cast<int>(body.inputs().size()) != op.num_operands()) {
    return BadOp(op, absl::StrCat(op.num_operands(), " operands"),
                 absl::StrCat(body.inputs().size(), ", one per body input"),
                 "pass each input of the body");
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    const TensorType inner = body.type(body.inputs()[i]).RowMajor();
    const TensorType outer = op.operand_type(i).RowMajor();
    if (inner == outer) continue;
    return BadOp(op, absl::StrCat("operand ", i, ": ", outer.ToString()),
                 inner.ToString(), "make the body's input the same type");
  }
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    PARTITA_RETURN_IF_ERROR(results.Set(
        static_cast<int>(i), body.type(body.outputs()[i]).RowMajor()));
  }
  return absl::OkStatus();
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> operands,
                      absl::Span<HostTensor> results) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> values,
                           partita::Evaluate(op.region(0), operands));
  for (size_t i = 0; i < values.size(); ++i) {
    ConvertLayout(values[i], results[i]);
  }
  return absl::OkStatus();
}

// The flops of the body, but only the bytes of the node's operands and results.
Cost EstimateCost(const OpView& op) {
  Cost total;
  for (OpView inner : op.region(0).ops()) {
    total.flops += inner.op().cost(inner).flops;
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    total.bytes += op.operand_type(i).num_bytes();
  }
  for (int i = 0; i < op.num_results(); ++i) {
    total.bytes += op.result_type(i).num_bytes();
  }
  return total;
}

}  // namespace

extern constinit const OpDef kFused = {
    .name = "fused",
    .doc = "The outputs of its body, computed as one kernel.",
    .operands = {{{"inputs", kVariadic}}},
    .num_results = kAnyNumber,
    .num_regions = 1,
    .tolerance = Tolerance::kApproximate,
    .infer = Infer,
    .eval = Evaluate,
    .cost = EstimateCost,
    .dimension_rule = FusedRule,
};

}  // namespace partita
