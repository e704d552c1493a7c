// Places nodes, then sources where they are read, then joins the pieces.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/partition/connect.h"
#include "placement/partition/shard.h"

namespace partita {
namespace {

bool IsSource(const OpView& op) { return op.is(kConstant) || op.is(kVariable); }

class Partitioner {
 public:
  Partitioner(Graph& graph, const PlacementTable& table, const Machine& machine)
      : graph_(graph), table_(table), machine_(machine) {}

  // In this order: what reads a value decides where sources lie.
  absl::Status Run() {
    if (machine_.devices.empty()) {
      return absl::InvalidArgumentError(
          "found a machine without devices; expected one at least");
    }
    PARTITA_RETURN_IF_ERROR(PlaceNodes());
    MergeEqualSources();
    PARTITA_RETURN_IF_ERROR(HomeVariables());
    CollectNeeds();
    PARTITA_RETURN_IF_ERROR(PlaceSources());
    PlaceInputs();
    Connector connector(graph_, machine_);
    PARTITA_RETURN_IF_ERROR(ConnectOperands(connector));
    PARTITA_RETURN_IF_ERROR(GatherOutputs(connector));
    PARTITA_RETURN_IF_ERROR(CopyUpdates(connector));
    EraseUnreadSources();
    return absl::OkStatus();
  }

 private:
  // How a source value is needed, in the order of its readers.
  struct Needs {
    std::vector<Whereabouts> places;
    bool anywhere = false;  // an output or update reads it
  };

  absl::Status PlaceNodes();
  absl::Status CheckDevices(const OpView& op, const Placement& placement) const;
  void MergeEqualSources();
  absl::Status HomeVariables();
  void CollectNeeds();
  absl::Status PlaceSources();
  absl::Status PlaceOneSource(NodeId id, NodeId next, const Needs& needs);
  absl::StatusOr<ValueId> CloneSource(NodeId id, const Whereabouts& place,
                                      NodeId before);
  void PlaceInputs();
  absl::Status ConnectOperands(Connector& connector);
  absl::Status GatherOutputs(Connector& connector);
  absl::Status CopyUpdates(Connector& connector);
  void EraseUnreadSources();

  std::vector<std::string> MachineOrder(
      const std::set<std::string>& devices) const;
  bool IsUpdated(const OpView& op) const {
    return op.is(kVariable) && updated_.contains(op.attr_string("name"));
  }
  bool ComesFromVariable(ValueId value) const;
  std::string UpdateName(const std::string& variable,
                         absl::string_view suffix) const;

  Graph& graph_;
  const PlacementTable& table_;
  const Machine& machine_;
  absl::flat_hash_set<std::string> updated_;
  absl::flat_hash_map<std::string, NodeId> variables_;  // updated ones
  std::map<ValueId, Needs> needs_;                      // of sources and inputs
  // What a reader at a place takes instead of a source.
  std::map<std::pair<ValueId, Whereabouts>, ValueId> clones_;
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
    Placement wanted = index < table_.nodes.size()
                           ? table_.nodes[index].placement
                           : Placement();
    PARTITA_RETURN_IF_ERROR(CheckDevices(op, wanted));
    if (IsSource(op)) {
      // Only the home of an updated variable is the planner's to choose.
      graph_.node(op.id()).placement.devices = std::move(wanted.devices);
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

// Two nodes for one constant or variable would be two copies of its bytes.
void Partitioner::MergeEqualSources() {
  std::map<std::pair<std::string, int>, ValueId> first;
  for (const OpView& op : graph_.ops()) {
    if (!IsSource(op)) continue;
    const auto key =
        op.is(kConstant)
            ? std::make_pair(std::string(), op.attr_literal("value").index)
            : std::make_pair(std::string(op.attr_string("name")), -1);
    const auto [it, inserted] = first.emplace(key, op.result(0).id());
    if (inserted) continue;
    if (graph_.type(it->second) != op.result_type(0)) continue;
    graph_.ReplaceAllUses(op.result(0).id(), it->second);
  }
  for (const VariableUpdate& update : graph_.updates()) {
    updated_.insert(update.variable);
    const auto it = first.find({update.variable, -1});
    if (it == first.end()) continue;
    variables_[update.variable] = graph_.value(it->second).defining_node;
  }
}

// Home is where the planner says, else where the variable is first read, else
// where its new value is made.
absl::Status Partitioner::HomeVariables() {
  for (const VariableUpdate& update : graph_.updates()) {
    const auto it = variables_.find(update.variable);
    if (it == variables_.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "@", graph_.name(), ": found an update of ", update.variable,
          " without a node that reads it; expected a `variable` node; add "
          "one"));
    }
    Placement& home = graph_.node(it->second).placement;
    if (home.placed()) continue;
    const Value& value = graph_.value(graph_.node(it->second).results[0]);
    if (!value.uses.empty()) {
      const Use use = value.uses.front();
      const Whereabouts need =
          OperandNeed(graph_.node(use.node).placement, use.operand);
      home.devices = need.devices;
      if (need.sharding != Sharding()) home.results = {need.sharding};
      continue;
    }
    const NodeId maker = graph_.value(update.value).defining_node;
    if (maker.valid()) home.devices = graph_.node(maker).placement.devices;
    if (!home.placed()) home.devices = {machine_.devices[0].traits.name};
  }
  return absl::OkStatus();
}

void Partitioner::CollectNeeds() {
  auto is_spread = [&](ValueId id) {
    const NodeId node = graph_.value(id).defining_node;
    if (!node.valid()) return true;
    const OpView op = graph_.view(node);
    return IsSource(op) && !IsUpdated(op);
  };
  for (const OpView& op : graph_.ops()) {
    for (int i = 0; i < op.num_operands(); ++i) {
      const ValueId value = op.operand(i).id();
      if (!is_spread(value)) continue;
      needs_[value].places.push_back(OperandNeed(op.node().placement, i));
    }
  }
  for (ValueId value : graph_.outputs()) {
    if (is_spread(value)) needs_[value].anywhere = true;
  }
  for (const VariableUpdate& update : graph_.updates()) {
    if (!is_spread(update.value)) continue;
    const Node& home = graph_.node(variables_[update.variable]);
    needs_[update.value].places.push_back(ResultPlace(home.placement, 0));
    needs_[update.value].anywhere = true;
  }
}

std::vector<std::string> Partitioner::MachineOrder(
    const std::set<std::string>& devices) const {
  std::vector<std::string> ordered;
  for (const MachineDevice& device : machine_.devices) {
    if (devices.contains(device.traits.name)) {
      ordered.push_back(device.traits.name);
    }
  }
  return ordered;
}

absl::StatusOr<ValueId> Partitioner::CloneSource(NodeId id,
                                                 const Whereabouts& place,
                                                 NodeId before) {
  const Node& node = graph_.node(id);
  const Value value = graph_.value(node.results[0]);
  NodeSpec spec{.op = node.op,
                .attributes = node.attributes,
                .scope = node.scope,
                .location = node.location};
  if (!value.name.empty()) {
    spec.result_names = {absl::StrCat(value.name, ".", PlaceSuffix(place))};
  }
  spec.placement.devices = place.devices;
  if (place.sharding != Sharding()) spec.placement.results = {place.sharding};
  PARTITA_ASSIGN_OR_RETURN(const ValueId clone,
                           graph_.AddValue(std::move(spec), before));
  graph_.value(clone).type = value.type;
  return clone;
}

// One node on each device that reads the value whole, or one on all of them if
// a device set reads it whole; and one for each way in which it is split. They
// stand before `next`, the node behind.
absl::Status Partitioner::PlaceOneSource(NodeId id, NodeId next,
                                         const Needs& needs) {
  const ValueId original = graph_.node(id).results[0];
  std::set<std::string> whole;
  std::vector<Whereabouts> places;
  bool by_set = false;
  for (const Whereabouts& need : needs.places) {
    if (need.sharding == Sharding()) {
      whole.insert(need.devices.begin(), need.devices.end());
      by_set |= need.devices.size() > 1;
    } else if (std::find(places.begin(), places.end(), need) == places.end()) {
      places.push_back(need);
    }
  }
  if (whole.empty() && (needs.anywhere || places.empty())) {
    whole.insert(machine_.devices[0].traits.name);
  }
  std::vector<Whereabouts> whole_places;
  for (const std::string& device : MachineOrder(whole)) {
    if (!by_set || whole_places.empty()) whole_places.push_back({});
    whole_places.back().devices.push_back(device);
  }
  places.insert(places.begin(), whole_places.begin(), whole_places.end());
  // The original stands for the first place, clones follow it in order.
  Placement& first = graph_.node(id).placement;
  first.devices = places[0].devices;
  first.results.clear();
  if (places[0].sharding != Sharding()) first.results = {places[0].sharding};
  clones_[{original, places[0]}] = original;
  for (size_t i = 1; i < places.size(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const ValueId clone,
                             CloneSource(id, places[i], next));
    clones_[{original, places[i]}] = clone;
  }
  return absl::OkStatus();
}

absl::Status Partitioner::PlaceSources() {
  const std::vector<NodeId> order = graph_.order();
  for (size_t i = 0; i < order.size(); ++i) {
    const OpView op = graph_.view(order[i]);
    if (!IsSource(op) || IsUpdated(op)) continue;
    const NodeId next = i + 1 < order.size() ? order[i + 1] : NodeId();
    PARTITA_RETURN_IF_ERROR(
        PlaceOneSource(op.id(), next, needs_[op.result(0).id()]));
  }
  return absl::OkStatus();
}

// An input that only outputs or updates read still has to arrive somewhere; one
// that nobody reads stays unplaced and is never fed.
void Partitioner::PlaceInputs() {
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    const auto it = needs_.find(graph_.inputs()[i]);
    Placement placement;
    if (it != needs_.end()) {
      std::set<std::string> readers;
      for (const Whereabouts& need : it->second.places) {
        readers.insert(need.devices.begin(), need.devices.end());
      }
      if (readers.empty()) readers.insert(machine_.devices[0].traits.name);
      for (std::string& device : MachineOrder(readers)) {
        placement.devices.push_back(std::move(device));
      }
    }
    graph_.set_input_placement(static_cast<int>(i), std::move(placement));
  }
}

absl::Status Partitioner::ConnectOperands(Connector& connector) {
  for (const OpView& op : graph_.ops()) {
    for (int i = 0; i < op.num_operands(); ++i) {
      ValueId value = op.operand(i).id();
      const Whereabouts need = OperandNeed(op.node().placement, i);
      for (auto it = clones_.lower_bound({value, {}});
           it != clones_.end() && it->first.first == op.operand(i).id(); ++it) {
        if (Satisfies(it->first.second, need)) value = it->second;
      }
      PARTITA_ASSIGN_OR_RETURN(value,
                               connector.Provide(value, need, op.ToString()));
      if (value != op.operand(i).id()) graph_.SetOperand(op.id(), i, value);
    }
  }
  return absl::OkStatus();
}

// The caller sees whole values.
absl::Status Partitioner::GatherOutputs(Connector& connector) {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId value = graph_.outputs()[i];
    const Whereabouts place = connector.PlaceOf(value);
    if (place.sharding == Sharding()) continue;
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId whole,
        connector.Provide(value, {{place.devices[0]}, {}},
                          absl::StrCat("output ", graph_.output_names()[i])));
    graph_.SetOutput(static_cast<int>(i), whole);
  }
  return absl::OkStatus();
}

// True if the value is bytes of a variable that an update may overwrite.
bool Partitioner::ComesFromVariable(ValueId value) const {
  while (graph_.value(value).defining_node.valid()) {
    const OpView op = graph_.view(graph_.value(value).defining_node);
    if (op.is(kVariable)) return true;
    if (op.op().moves == nullptr || op.num_operands() == 0) return false;
    value = op.operand(0).id();
  }
  return false;
}

// After the value that reads the variable, whose name is an identifier.
std::string Partitioner::UpdateName(const std::string& variable,
                                    absl::string_view suffix) const {
  const Node& reader = graph_.node(variables_.at(variable));
  const std::string& name = graph_.value(reader.results[0]).name;
  return name.empty() ? name : absl::StrCat(name, suffix);
}

// First everything is read, then everything is written: two variables may
// exchange their values.
absl::Status Partitioner::CopyUpdates(Connector& connector) {
  std::vector<VariableUpdate>& updates = graph_.mutable_updates();
  for (VariableUpdate& update : updates) {
    if (!ComesFromVariable(update.value)) continue;
    PARTITA_ASSIGN_OR_RETURN(
        update.value,
        connector.CopyAtEnd(
            update.value,
            ResultPlace(graph_.node(variables_[update.variable]).placement, 0),
            UpdateName(update.variable, ".new"),
            absl::StrCat("update of ", update.variable)));
  }
  for (VariableUpdate& update : updates) {
    const Node& home = graph_.node(variables_[update.variable]);
    PARTITA_ASSIGN_OR_RETURN(
        update.value,
        connector.CopyAtEnd(update.value, ResultPlace(home.placement, 0),
                            UpdateName(update.variable, ".next"),
                            absl::StrCat("update of ", update.variable)));
  }
  return absl::OkStatus();
}

void Partitioner::EraseUnreadSources() {
  for (const OpView& op : graph_.ops()) {
    if (!IsSource(op) || IsUpdated(op)) continue;
    const ValueId value = op.result(0).id();
    if (graph_.value(value).uses.empty() && !graph_.is_output(value)) {
      graph_.Erase(op.id());
    }
  }
}

}  // namespace

absl::Status Partition(Graph& graph, const PlacementTable& placement,
                       const Machine& machine) {
  return Partitioner(graph, placement, machine).Run();
}

}  // namespace partita
