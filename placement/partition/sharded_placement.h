// The shardings of a node's values when it is sharded along one dimension.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_SHARDED_PLACEMENT_H_
#define PARTITA_PLACEMENT_PARTITION_SHARDED_PLACEMENT_H_

#include "absl/status/statusor.h"
#include "graph/dimension_rule.h"
#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {

// The devices of a value and its sharding over them. On one device the sharding
// is always "replicated".
struct ShardedPlacement {
  absl::InlinedVector<std::string, 1> devices;
  Sharding sharding;
  friend bool operator==(const ShardedPlacement&,
                         const ShardedPlacement&) = default;
  friend bool operator<(const ShardedPlacement& a, const ShardedPlacement& b);
};

// Completes `wanted` for `op` and keeps its devices. A split result (or,
// without one, a split operand) selects the factor to shard and its unit; all
// other shardings follow from these. If the factor has no shards of unit 1,
// unit 1 means the smallest possible unit. If `op` sums over the factor, each
// rank has a partial sum. A node that reads partial sums keeps the shardings of
// `wanted`.
absl::StatusOr<Placement> ShardNode(const OpView& op, Placement wanted);

// `op` on several devices, sharded like this along a factor of `rule`, the rule
// of `op`.
absl::StatusOr<Placement> ShardAlong(const OpView& op,
                                     const DimensionRule& rule,
                                     const FactorSharding& sharding,
                                     Placement wanted);

// The placement that operand `operand` needs, and that result `result` has.
ShardedPlacement OperandNeed(const Placement& placement, int operand);
ShardedPlacement ResultPlace(const Placement& placement, int result);

// True if a reader that needs `need` may read a value at `have` without a copy.
bool Satisfies(const ShardedPlacement& have, const ShardedPlacement& need);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_SHARDED_PLACEMENT_H_
