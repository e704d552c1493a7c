// The shard of a value on one rank of a device set.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/shards.h"

#include <algorithm>

namespace partita {

int NumRanks(const Placement& placement) {
  return std::max<int>(1, static_cast<int>(placement.devices.size()));
}

Sharding OperandSharding(const Node& node, int operand) {
  const std::vector<Sharding>& all = node.placement.operands;
  return NumRanks(node.placement) == 1 || all.empty() ? Sharding{}
                                                      : all[operand];
}

Sharding ResultSharding(const Node& node, int result) {
  const std::vector<Sharding>& all = node.placement.results;
  return NumRanks(node.placement) == 1 || all.empty() ? Sharding{}
                                                      : all[result];
}

Sharding ProducedSharding(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (v.defining_node.valid()) {
    return ResultSharding(graph.node(v.defining_node), v.index);
  }
  const Placement& placement = graph.input_placement(v.index);
  return NumRanks(placement) == 1 || placement.results.empty()
             ? Sharding{}
             : placement.results[0];
}

const Placement& ProducedPlacement(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (!v.defining_node.valid()) return graph.input_placement(v.index);
  return graph.node(v.defining_node).placement;
}

// Implements placement.h independently. n < 2^46 and ranks < 2^16, so the
// products do not overflow.
ShardExtent ExtentOfShard(const TensorType& type, const Sharding& split,
                          int rank, int ranks) {
  const int64_t units = type.dims[split.dim] / split.unit;
  return {split.unit * (units * rank / ranks),
          split.unit * (units * (rank + 1) / ranks)};
}

TensorType TypeOfShard(const TensorType& type, const Sharding& sharding,
                       int rank, int ranks) {
  TensorType shard = type;
  if (sharding.kind != Sharding::Kind::kSplit) return shard;
  const ShardExtent extent = ExtentOfShard(type, sharding, rank, ranks);
  shard.dims[sharding.dim] = extent.end - extent.begin;
  return shard;
}

Range ShardOfWhole(const TensorType& type, const Sharding& sharding, int rank,
                   int ranks) {
  const int64_t bytes = type.num_bytes();
  if (sharding.kind != Sharding::Kind::kSplit || bytes == 0) {
    return {.offset = 0, .block = bytes};
  }
  const int64_t n = type.dims[sharding.dim];
  int64_t outer = 1;
  for (int d = 0; d < sharding.dim; ++d) outer *= type.dims[d];
  const int64_t row = bytes / outer / n;  // bytes of one index of the dimension
  const ShardExtent extent = ExtentOfShard(type, sharding, rank, ranks);
  return {.offset = extent.begin * row,
          .block = (extent.end - extent.begin) * row,
          .count = outer,
          .stride = n * row};
}

}  // namespace partita
