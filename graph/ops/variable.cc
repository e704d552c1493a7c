// Variable: state of the module at the start of the step.
// SPDX-License-Identifier: Apache-2.0

#include "graph/core_ops.h"

namespace partita {
namespace {

// The type is in attributes, so that a graph can be parsed without its module.
// The verifier compares it with the module's declaration.
absl::Status Infer(const OpView& op, Types& results) {
  const std::vector<int64_t>& shape = op.attr_ints("shape");
  return results.Set(
      0, {op.attr_dtype("dtype"), Shape(shape.begin(), shape.end()), {}});
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor>,
                      absl::Span<HostTensor>) {
  return BadOp(op, "a variable without a step", "its value",
               "evaluate the whole graph and give the variables' values");
}

Cost EstimateCost(const OpView&) { return {}; }

}  // namespace

extern constinit const OpDef kVariable = {
    .name = "variable",
    .doc = "The value of a module variable at the start of a step.",
    .attrs = {{RequiredAttr("name", AttributeKind::kString),
               RequiredAttr("dtype", AttributeKind::kDType),
               IntsAttr("shape")}},
    .traits = {.reads_variable = true},
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "a leaf: gradients end there",
    .cost = EstimateCost,
    .dimension_rule = WholeRule,
};

}  // namespace partita
