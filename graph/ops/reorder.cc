// Reorder: the same value in another layout.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "graph/core_ops.h"
#include "graph/ops/elementwise_rule.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  const std::string text = op.attr_string("layout");
  TensorType type = x.RowMajor();
  if (!text.empty()) {
    PARTITA_ASSIGN_OR_RETURN(type.layout, ParseLayout(text, x.rank()));
  }
  return results.Set(0, std::move(type));
}

absl::Status Evaluate(const OpView&, absl::Span<const HostTensor> operands,
                      absl::Span<HostTensor> results) {
  const absl::Span<const std::byte> bytes = operands[0].byte_span();
  std::memcpy(results[0].bytes(), bytes.data(), bytes.size());
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  return {.flops = 0, .bytes = 2.0 * op.operand_type(0).num_bytes()};
}

}  // namespace

extern constinit const OpDef kReorder = {
    .name = "reorder",
    .doc = "The operand in the given layout; default: row-major.",
    .operands = {{{"x"}}},
    .attrs = {{StringAttr("layout", "")}},
    .traits = {.placed_only = true},
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "inserted by passes, after gradients are built",
    .cost = EstimateCost,
    .dimension_rule = SameDimensionsRule,
};

}  // namespace partita
