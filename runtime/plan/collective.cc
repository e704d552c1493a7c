// What a collective does, read from its node in the placed graph.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/collective.h"

#include "graph/core_ops.h"
#include "graph/instance.h"

namespace partita {

std::optional<CollectiveKind> CollectiveOf(const OpView& node) {
  if (!IsCopy(node) || node.num_operands() != 1 || node.num_results() != 1) {
    return std::nullopt;
  }
  const Placement& placement = node.node().placement;
  if (placement.devices.size() < 2) return std::nullopt;
  const Sharding from = ShardingOf(placement.operands, 0);
  const Sharding to = ShardingOf(placement.results, 0);
  using Kind = Sharding::Kind;
  if (from == to || to.kind == Kind::kPartial ||
      from.kind == Kind::kReplicated) {
    return std::nullopt;
  }
  const bool gathers = to.kind == Kind::kReplicated;
  if (from.kind == Kind::kPartial) {
    return gathers ? CollectiveKind::kAllReduce
                   : CollectiveKind::kReduceScatter;
  }
  return gathers ? CollectiveKind::kAllGather : CollectiveKind::kAllToAll;
}

bool IsCopy(const OpView& node) { return node.is(kCopy); }

}  // namespace partita
