// Bucket: an all-reduce or all-gather of several values in one collective.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "graph/core_ops.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  for (int i = 0; i < op.num_operands(); ++i) {
    absl::Status status = results.Set(i, op.operand_type(i).RowMajor());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Evaluate(const OpView&, absl::Span<const HostTensor> operands,
                      absl::Span<HostTensor> results) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const absl::Span<const std::byte> bytes = operands[i].byte_span();
    std::memcpy(results[i].bytes(), bytes.data(), bytes.size());
  }
  return absl::OkStatus();
}

std::optional<std::vector<ByteMove>> Moves(const OpView& op) {
  std::vector<ByteMove> moves;
  for (int i = 0; i < op.num_operands(); ++i) {
    moves.push_back(
        {.operand = i, .result = i, .block = op.operand_type(i).num_bytes()});
  }
  return moves;
}

Cost EstimateCost(const OpView& op) {
  Cost cost;
  for (int i = 0; i < op.num_operands(); ++i) {
    cost.bytes += 2.0 * op.operand_type(i).num_bytes();
  }
  return cost;
}

}  // namespace

// The change of sharding, from partial or split to replicated, makes it a
// collective. A copy of each operand has the same effect, with one collective
// for each.
extern constinit const OpDef kBucket = {
    .name = "bucket",
    .doc =
        "The operands, each made whole from the ranks' shards or partial "
        "values, in one collective for all of them.",
    .operands = {{{"x", kVariadic}}},
    .num_results = kAnyNumber,
    .traits = {.placed_only = true, .keeps_layout = true},
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "inserted by passes, after gradients are built",
    .cost = EstimateCost,
    .dimension_rule = WholeRule,
    .moves = Moves,
};

}  // namespace partita
