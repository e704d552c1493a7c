// The shard of a value on one rank of a device set.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_SHARDS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_SHARDS_H_

#include <cstdint>

#include "graph/graph.h"
#include "graph/placement.h"
#include "graph/tensor_type.h"
#include "runtime/plan/plan.h"

namespace partita {

int NumRanks(const Placement& placement);
Sharding OperandSharding(const Node& node, int operand);
Sharding ResultSharding(const Node& node, int result);

// The sharding of a value over its ranks where its node makes it, or where a
// graph input arrives.
Sharding ProducedSharding(const Graph& graph, ValueId value);
const Placement& ProducedPlacement(const Graph& graph, ValueId value);

// The type of the shard of rank `rank` of `ranks`. The sharding's dimension
// must exist.
TensorType TypeOfShard(const TensorType& type, const Sharding& sharding,
                       int rank, int ranks);

// The indices [begin, end) of a rank's shard along the split dimension.
struct ShardExtent {
  int64_t begin = 0;
  int64_t end = 0;
};
ShardExtent ExtentOfShard(const TensorType& type, const Sharding& split,
                          int rank, int ranks);

// The bytes of the whole row-major value that a rank holds, in the order of the
// bytes of its shard.
Range ShardOfWhole(const TensorType& type, const Sharding& sharding, int rank,
                   int ranks);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_SHARDS_H_
