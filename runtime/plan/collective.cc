// What a collective does, read from its node in the placed graph.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/collective.h"

#include "graph/core_ops.h"
#include "graph/instance.h"

namespace partita {

namespace {

using Kind = Sharding::Kind;

// Of operand and result `i`.
std::optional<CollectiveKind> KindOf(const Placement& placement, int i) {
  const Sharding from = ShardingOf(placement.operands, i);
  const Sharding to = ShardingOf(placement.results, i);
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

bool AllReducesEach(const OpView& bucket) {
  if (bucket.num_operands() == 0 ||
      bucket.num_operands() != bucket.num_results()) {
    return false;
  }
  for (int i = 0; i < bucket.num_operands(); ++i) {
    if (KindOf(bucket.node().placement, i) != CollectiveKind::kAllReduce) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<CollectiveKind> CollectiveOf(const OpView& node) {
  const Placement& placement = node.node().placement;
  if (placement.devices.size() < 2) return std::nullopt;
  if (node.is(kBucket)) {
    if (!AllReducesEach(node)) return std::nullopt;
    return CollectiveKind::kAllReduce;
  }
  if (!IsCopy(node) || node.num_operands() != 1 || node.num_results() != 1) {
    return std::nullopt;
  }
  return KindOf(placement, 0);
}

bool IsCopy(const OpView& node) { return node.is(kCopy); }

}  // namespace partita
