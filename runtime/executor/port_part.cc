// Offsets of micro-batches and of members' pieces.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/port_part.h"

#include <string>

#include "absl/algorithm/container.h"
#include "graph/instance.h"

namespace partita {
namespace {

// All of a value, or the member's piece of a split one.
PortPart PieceOf(const TensorType& type, const Sharding& sharding, int member,
                 int members) {
  const int64_t bytes = type.num_bytes();
  if (sharding.kind != Sharding::Kind::kSplit || bytes == 0) {
    return {0, {nullptr, bytes}};
  }
  int64_t outer = 1;
  for (int d = 0; d < sharding.dim; ++d) outer *= type.dims[d];
  const int64_t extent = type.dims[sharding.dim];
  const int64_t row = bytes / outer / extent;
  const Interval share = MemberShare(extent, sharding.unit, member, members);
  return {share.begin * row,
          {nullptr, share.size() * row, outer, extent * row}};
}

// What a device holds of a value, where it is made or as it arrives.
PortPart PieceOn(const std::string& device, const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const bool is_input = !value.defining_node.valid();
  const Placement& placement = is_input
                                   ? graph.input_placement(value.index)
                                   : graph.node(value.defining_node).placement;
  const auto member = absl::c_find(placement.devices, device);
  const bool is_member = member != placement.devices.end();
  return PieceOf(graph.type(id),
                 is_member
                     ? ShardingOf(placement.results, is_input ? 0 : value.index)
                     : Sharding(),
                 static_cast<int>(member - placement.devices.begin()),
                 static_cast<int>(placement.devices.size()));
}

}  // namespace

PortPart PartOfPort(const Plan& plan, const Entry& entry,
                    const Command& command) {
  const Graph& graph = *entry.graph;
  const bool feed = command.kind == Command::Kind::kFeed;
  const Port& port = (feed ? entry.inputs : entry.outputs)[command.port];
  const ValueId id = (feed ? graph.inputs() : graph.outputs())[command.port];
  const TensorType& type = graph.type(id);
  const DeviceId device = entry.streams[command.stream.index].device;
  PortPart part = PieceOn(plan.devices[device.index].traits.name, graph, id);
  if (port.type.num_bytes() != type.num_bytes()) {
    part.offset += command.instance.micro_batch * type.num_bytes();
  }
  return part;
}

}  // namespace partita
