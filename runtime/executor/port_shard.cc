// Offsets of micro-batches and of ranks' shards.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/port_shard.h"

#include <string>

#include "absl/algorithm/container.h"
#include "graph/shard.h"

namespace partita {
namespace {

// The whole value, or the rank's shard of a split value.
PortShard ShardOf(const TensorType& type, const Sharding& sharding, int rank,
                  int ranks) {
  const int64_t bytes = type.num_bytes();
  if (sharding.kind != Sharding::Kind::kSplit || bytes == 0) {
    return {0, {nullptr, bytes}};
  }
  int64_t outer = 1;
  for (int d = 0; d < sharding.dim; ++d) outer *= type.dims[d];
  const int64_t extent = type.dims[sharding.dim];
  const int64_t row = bytes / outer / extent;
  const Interval interval = RankInterval(extent, sharding.unit, rank, ranks);
  return {interval.begin * row,
          {nullptr, interval.size() * row, outer, extent * row}};
}

// The shard of a value on the device where it is made or arrives.
PortShard ShardOn(const std::string& device, const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const bool is_input = !value.defining_node.valid();
  const Placement& placement = is_input
                                   ? graph.input_placement(value.index)
                                   : graph.node(value.defining_node).placement;
  const auto rank = absl::c_find(placement.devices, device);
  const bool is_rank = rank != placement.devices.end();
  return ShardOf(graph.type(id),
                 is_rank
                     ? ShardingOf(placement.results, is_input ? 0 : value.index)
                     : Sharding(),
                 static_cast<int>(rank - placement.devices.begin()),
                 static_cast<int>(placement.devices.size()));
}

}  // namespace

PortShard ShardOfPort(const Plan& plan, const Entry& entry,
                      const Command& command) {
  const Graph& graph = *entry.graph;
  const bool feed = command.kind == Command::Kind::kFeed;
  const Port& port = (feed ? entry.inputs : entry.outputs)[command.port];
  const ValueId id = (feed ? graph.inputs() : graph.outputs())[command.port];
  const TensorType& type = graph.type(id);
  const DeviceId device = entry.streams[command.stream.index].device;
  PortShard shard = ShardOn(plan.devices[device.index].traits.name, graph, id);
  if (port.type.num_bytes() != type.num_bytes()) {
    shard.offset += command.instance.micro_batch.index * type.num_bytes();
  }
  return shard;
}

}  // namespace partita
