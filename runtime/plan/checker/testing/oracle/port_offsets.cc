// Computes offsets from micro-batch and device.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/port_offsets.h"

#include <algorithm>
#include <string>

#include "runtime/plan/checker/testing/oracle/semantics.h"

namespace partita {
namespace {

using Kind = Command::Kind;

const Placement& HeldAt(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return value.defining_node.valid() ? graph.node(value.defining_node).placement
                                     : graph.input_placement(value.index);
}

ValueSharding HeldSharding(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (value.defining_node.valid()) {
    return ResultValueSharding(graph.node(value.defining_node), value.index);
  }
  const Placement& placement = HeldAt(graph, id);
  ValueSharding held;
  held.ranks = std::max<int>(1, placement.devices.size());
  if (held.ranks > 1 && !placement.results.empty()) {
    held.sharding = placement.results[0];
  }
  return held;
}

int HeldRank(const Graph& graph, ValueId id, const std::string& device) {
  const auto& devices = HeldAt(graph, id).devices;
  const auto it = std::find(devices.begin(), devices.end(), device);
  return it == devices.end() ? 0 : static_cast<int>(it - devices.begin());
}

}  // namespace

std::vector<int64_t> OffsetsInPort(const Unrolled& program,
                                   const Command& command) {
  const Graph& graph = *program.entry->graph;
  const bool feed = command.kind == Kind::kFeed;
  const ValueId id = (feed ? graph.inputs() : graph.outputs())[command.port];
  const Port& port =
      (feed ? program.entry->inputs : program.entry->outputs)[command.port];
  // The caller's bytes are row-major, whatever the layout of the value.
  const TensorType type = graph.type(id).RowMajor();
  const int64_t size = type.num_bytes();
  const int64_t base = port.type.num_bytes() == size
                           ? 0
                           : command.instance.micro_batch.index * size;
  const DeviceId device = program.entry->streams[command.stream.index].device;
  std::vector<int64_t> offsets = OffsetsInWhole(
      type, HeldSharding(graph, id),
      HeldRank(graph, id, program.plan->devices[device.index].traits.name));
  for (int64_t& offset : offsets) offset += base;
  return offsets;
}

}  // namespace partita
