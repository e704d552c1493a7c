// Places nodes, then sources where they are read, then inserts copies.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/partition.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/partition/connect.h"
#include "placement/partition/copy_updates.h"
#include "placement/partition/place_sources.h"
#include "placement/partition/sharded_placement.h"

namespace partita {
namespace {

class Partitioner {
 public:
  Partitioner(Graph& graph, absl::Span<const Placement> placements,
              const Machine& machine, const PartitionOptions& options)
      : graph_(graph),
        placements_(placements),
        machine_(machine),
        options_(options) {}

  // The order matters: readers decide where sources are placed.
  absl::Status Run() {
    if (machine_.devices.empty()) {
      return absl::InvalidArgumentError(
          "found a machine without devices; expected one at least");
    }
    PARTITA_RETURN_IF_ERROR(PlaceNodes());
    Sources sources(graph_, machine_, options_.homes);
    PARTITA_RETURN_IF_ERROR(sources.Place());
    Connector connector(graph_, machine_);
    PARTITA_RETURN_IF_ERROR(ConnectOperands(sources, connector));
    PARTITA_RETURN_IF_ERROR(GatherOutputs(connector));
    PARTITA_RETURN_IF_ERROR(CopyUpdates(graph_, sources, connector));
    sources.EraseUnread();
    return absl::OkStatus();
  }

 private:
  absl::Status PlaceNodes();
  absl::Status CheckDevices(const OpView& op, const Placement& placement) const;
  absl::Status ConnectOperands(const Sources& sources, Connector& connector);
  absl::Status GatherOutputs(Connector& connector);

  Graph& graph_;
  const absl::Span<const Placement> placements_;
  const Machine& machine_;
  const PartitionOptions& options_;
};

absl::Status Partitioner::CheckDevices(const OpView& op,
                                       const Placement& placement) const {
  std::set<std::string> seen;
  for (const std::string& device : placement.devices) {
    if (machine_.FindDevice(device) == nullptr) {
      return BadOp(op, absl::StrCat("device ", device), "one of the machine's",
                   "name a device of the machine file");
    }
    if (!seen.insert(device).second) {
      return BadOp(op, absl::StrCat("device ", device, " twice in its set"),
                   "different devices", "name each device once");
    }
  }
  return absl::OkStatus();
}

absl::Status Partitioner::PlaceNodes() {
  for (const OpView& op : graph_.ops()) {
    const size_t index = static_cast<size_t>(op.id().index);
    Placement wanted =
        index < placements_.size() ? placements_[index] : Placement();
    PARTITA_RETURN_IF_ERROR(CheckDevices(op, wanted));
    if (IsSource(op)) {
      // The planner chooses only the home of an updated variable.
      graph_.node(op.id()).placement = std::move(wanted);
      continue;
    }
    if (!wanted.placed()) {
      return absl::FailedPreconditionError(
          absl::StrCat(op.ToString(),
                       ": found no device; expected a placement of every node; "
                       "run a planner first"));
    }
    PARTITA_ASSIGN_OR_RETURN(Placement placement,
                             ShardNode(op, std::move(wanted)));
    graph_.node(op.id()).placement = std::move(placement);
  }
  return absl::OkStatus();
}

absl::Status Partitioner::ConnectOperands(const Sources& sources,
                                          Connector& connector) {
  for (const OpView& op : graph_.ops()) {
    for (int i = 0; i < op.num_operands(); ++i) {
      const ShardedPlacement need = OperandNeed(op.node().placement, i);
      ValueId value = sources.For(op.operand(i).id(), need);
      PARTITA_ASSIGN_OR_RETURN(value,
                               connector.Provide(value, need, op.ToString()));
      if (value != op.operand(i).id()) graph_.SetOperand(op.id(), i, value);
    }
  }
  return absl::OkStatus();
}

// The caller sees whole values.
absl::Status Partitioner::GatherOutputs(Connector& connector) {
  const std::string& output_device = options_.output_device;
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId value = graph_.outputs()[i];
    const ShardedPlacement place = connector.PlaceOf(value);
    if (output_device.empty() && place.sharding == Sharding()) continue;
    const std::string& to =
        output_device.empty() ? place.devices[0] : output_device;
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId whole,
        connector.ProvideFirstOn(
            to, value, absl::StrCat("output ", graph_.output_names()[i])));
    graph_.SetOutput(static_cast<int>(i), whole);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Partition(Graph& graph, absl::Span<const Placement> placements,
                       const Machine& machine,
                       const PartitionOptions& options) {
  return Partitioner(graph, placements, machine, options).Run();
}

}  // namespace partita
