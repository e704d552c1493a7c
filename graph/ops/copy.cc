// Copy: the same value on another device.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "graph/core_ops.h"
#include "graph/ops/elementwise_rule.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  return results.Set(0, op.operand_type(0).RowMajor());
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

std::optional<std::vector<ByteMove>> Moves(const OpView& op) {
  return {{{.block = op.operand_type(0).num_bytes()}}};
}

}  // namespace

extern constinit const OpDef kCopy = {
    .name = "copy",
    .doc = "The operand, on the devices and in the sharding of the result.",
    .operands = {{{"x"}}},
    .traits = {.placed_only = true, .keeps_layout = true},
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "inserted by passes, after gradients are built",
    .cost = EstimateCost,
    .dimension_rule = SameDimensionsRule,
    .moves = Moves,
};

}  // namespace partita
