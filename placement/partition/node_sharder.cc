// Shards nodes by dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/node_sharder.h"

#include <utility>

#include "graph/op_def.h"
#include "graph/shard.h"
#include "placement/partition/sharded_placement.h"

namespace partita {

using Kind = Sharding::Kind;

DimensionRule NodeSharder::RuleOf(const OpView& op) {
  return op.op().dimension_rule != nullptr ? op.op().dimension_rule(op)
                                           : WholeRule(op);
}

std::optional<Placement> NodeSharder::ShardLike(const OpView& op,
                                                const DimensionRule& rule,
                                                const DimensionRule::Dims& dims,
                                                const Sharding& split,
                                                Factor::Kind kind) const {
  const std::optional<FactorSharding> alike =
      FactorShardingOf(rule, dims, split, num_ranks());
  if (!alike.has_value() || rule.factors[alike->factor].kind != kind) {
    return std::nullopt;
  }
  absl::StatusOr<Placement> sharded =
      ShardAlong(op, rule, *alike, {.devices = ranks_});
  if (!sharded.ok()) return std::nullopt;
  return *std::move(sharded);
}

void NodeSharder::Shard(const OpView& op, Placement sharded) {
  for (int i = 0; i < op.num_results(); ++i) {
    const Sharding& result = sharded.results[i];
    const bool split = result.kind == Kind::kSplit;
    sharding_.values[op.result(i).id()] = split ? result : Sharding();
  }
  sharding_.nodes[op.id()] = std::move(sharded);
}

void NodeSharder::Store(NodeId node, const Sharding& split) {
  sharding_.nodes[node] = {.devices = ranks_, .results = {split}};
  sharding_.values[graph_.node(node).results[0]] = split;
}

std::optional<Sharding> NodeSharder::WantedByAll(const OpView& op) const {
  if (op.num_results() != 1) return std::nullopt;
  const ValueId result = op.result(0).id();
  const auto& uses = graph_.value(result).uses;
  if (uses.empty() || graph_.is_output(result)) return std::nullopt;
  std::optional<Sharding> wanted;
  for (const Use& use : uses) {
    const Sharding taken =
        ShardingOf(sharding_.nodes[use.node].operands, use.operand);
    if (taken.kind != Kind::kSplit) return std::nullopt;
    if (wanted.has_value() && *wanted != taken) return std::nullopt;
    wanted = taken;
  }
  return wanted;
}

}  // namespace partita
