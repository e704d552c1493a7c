// Cuts by dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/node_cutter.h"

#include <utility>

#include "graph/instance.h"
#include "placement/partition/shard.h"

namespace partita {

using Kind = Sharding::Kind;

DimensionRule NodeCutter::RuleOf(const OpView& op) {
  return op.op().dimension_rule != nullptr ? op.op().dimension_rule(op)
                                           : WholeRule(op);
}

std::optional<Placement> NodeCutter::CutLike(const OpView& op,
                                             const DimensionRule& rule,
                                             const DimensionRule::Dims& dims,
                                             const Sharding& split,
                                             Factor::Kind kind) const {
  const std::optional<FactorCut> alike = CutAs(rule, dims, split, num_parts());
  if (!alike.has_value() || rule.factors[alike->factor].kind != kind) {
    return std::nullopt;
  }
  absl::StatusOr<Placement> cut =
      CutAlong(op, rule, *alike, {.devices = parts_});
  if (!cut.ok()) return std::nullopt;
  return *std::move(cut);
}

void NodeCutter::Cut(const OpView& op, Placement cut) {
  for (int i = 0; i < op.num_results(); ++i) {
    const Sharding& result = cut.results[i];
    const bool split = result.kind == Kind::kSplit;
    division_.shardings[op.result(i).id().index] = split ? result : Sharding();
  }
  division_.cuts[op.id().index] = std::move(cut);
}

void NodeCutter::Store(NodeId node, const Sharding& split) {
  division_.cuts[node.index] = {.devices = parts_, .results = {split}};
  division_.shardings[graph_.node(node).results[0].index] = split;
}

std::optional<Sharding> NodeCutter::WantedByAll(const OpView& op) const {
  if (op.num_results() != 1) return std::nullopt;
  const ValueId result = op.result(0).id();
  const auto& uses = graph_.value(result).uses;
  if (uses.empty() || graph_.is_output(result)) return std::nullopt;
  std::optional<Sharding> wanted;
  for (const Use& use : uses) {
    const Sharding taken =
        ShardingOf(division_.cuts[use.node.index].operands, use.operand);
    if (taken.kind != Kind::kSplit) return std::nullopt;
    if (wanted.has_value() && *wanted != taken) return std::nullopt;
    wanted = taken;
  }
  return wanted;
}

}  // namespace partita
