// The shardings of a node's values when it is cut along one dimension.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_SHARD_H_
#define PARTITA_PLACEMENT_PARTITION_SHARD_H_

#include "absl/status/statusor.h"
#include "graph/dimension_rule.h"
#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {

// What partition asks of a value, or knows of it: on which devices, and how it
// is divided among them. One device is always replicated.
struct Whereabouts {
  absl::InlinedVector<std::string, 1> devices;
  Sharding sharding;
  friend bool operator==(const Whereabouts&, const Whereabouts&) = default;
  friend bool operator<(const Whereabouts& a, const Whereabouts& b);
};

// Fills in `wanted` for `op`: its devices stand; where it asks for a split
// result, or else for a split operand, all shardings follow from the factor
// that divides that dimension, and from its unit: where no pieces of the factor
// have the unit 1 that is asked for, from the smallest that some have. A factor
// that is summed over leaves each member with a partial sum. A node that
// reads partial sums as they are keeps its shardings.
absl::StatusOr<Placement> ShardNode(const OpView& op, Placement wanted);

// `op` on several devices, cut in this way along a factor of `rule`, its own.
absl::StatusOr<Placement> CutAlong(const OpView& op, const DimensionRule& rule,
                                   const FactorCut& cut, Placement wanted);

// Where operand `i` must be, and where result `i` is, under `placement`.
Whereabouts OperandNeed(const Placement& placement, int operand);
Whereabouts ResultPlace(const Placement& placement, int result);

// True if whoever needs a value at `need` may read one at `have` as it lies.
bool Satisfies(const Whereabouts& have, const Whereabouts& need);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_SHARD_H_
