// Clones sources, one for each placement at which they are read.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/place_sources.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/status_macros.h"
#include "placement/partition/connect.h"

namespace partita {

bool IsSource(const OpView& op) { return op.is(kConstant) || op.is(kVariable); }

bool Sources::IsUpdated(const OpView& op) const {
  return op.is(kVariable) && updated_.contains(op.attr_string("name"));
}

absl::Status Sources::Place() {
  MergeEqual();
  PARTITA_RETURN_IF_ERROR(HomeVariables());
  CollectNeeds();
  PARTITA_RETURN_IF_ERROR(PlaceAll());
  PlaceInputs();
  return absl::OkStatus();
}

// Two nodes for one constant or variable would store its bytes twice.
void Sources::MergeEqual() {
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
  }
  for (const auto& [variable, placement] : homes_) updated_.insert(variable);
  for (const std::string& variable : updated_) {
    const auto it = first.find({variable, -1});
    if (it == first.end()) continue;
    variables_[variable] = graph_.value(it->second).defining_node;
  }
}

absl::Status Sources::HomeVariables() {
  for (const auto& [variable, node] : variables_) {
    graph_.node(node).placement = HomeOf(variable, node);
  }
  for (const VariableUpdate& update : graph_.updates()) {
    if (variables_.contains(update.variable)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "@", graph_.name(), ": found an update of ", update.variable,
        " without a node that reads it; expected a `variable` node; add one"));
  }
  return absl::OkStatus();
}

// In this order: the home that another function chose, the planner's choice,
// the placement of the first reader, the devices that make its new value.
Placement Sources::HomeOf(const std::string& variable, NodeId node) const {
  const auto decided = homes_.find(variable);
  if (decided != homes_.end() && decided->second.placed()) {
    return decided->second;
  }
  Placement home = graph_.node(node).placement;
  if (home.placed()) return home;
  const Value& value = graph_.value(graph_.node(node).results[0]);
  if (!value.uses.empty()) {
    const Use use = value.uses.front();
    const ShardedPlacement need =
        OperandNeed(graph_.node(use.node).placement, use.operand);
    home.devices = need.devices;
    if (need.sharding != Sharding()) home.results = {need.sharding};
    return home;
  }
  for (const VariableUpdate& update : graph_.updates()) {
    const NodeId maker = graph_.value(update.value).defining_node;
    if (update.variable != variable || !maker.valid()) continue;
    home.devices = graph_.node(maker).placement.devices;
  }
  if (!home.placed()) home.devices = {machine_.devices[0].traits.name};
  return home;
}

void Sources::CollectNeeds() {
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

std::vector<std::string> Sources::MachineOrder(
    const std::set<std::string>& devices) const {
  std::vector<std::string> ordered;
  for (const MachineDevice& device : machine_.devices) {
    if (devices.contains(device.traits.name)) {
      ordered.push_back(device.traits.name);
    }
  }
  return ordered;
}

absl::StatusOr<ValueId> Sources::Clone(NodeId id, const ShardedPlacement& place,
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

// Makes one node on each device that reads the whole value (one node on all of
// these devices if a device set reads it whole), and one node for each split.
// Clones are inserted before `next`, the node after the original.
absl::Status Sources::PlaceOne(NodeId id, NodeId next, const Needs& needs) {
  const ValueId original = graph_.node(id).results[0];
  std::set<std::string> whole;
  std::vector<ShardedPlacement> places;
  bool by_set = false;
  for (const ShardedPlacement& need : needs.places) {
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
  std::vector<ShardedPlacement> whole_places;
  for (const std::string& device : MachineOrder(whole)) {
    if (!by_set || whole_places.empty()) whole_places.push_back({});
    whole_places.back().devices.push_back(device);
  }
  places.insert(places.begin(), whole_places.begin(), whole_places.end());
  // The original takes the first placement; clones take the others in order.
  Placement& first = graph_.node(id).placement;
  first.devices = places[0].devices;
  first.results.clear();
  if (places[0].sharding != Sharding()) first.results = {places[0].sharding};
  clones_[{original, places[0]}] = original;
  for (size_t i = 1; i < places.size(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const ValueId clone, Clone(id, places[i], next));
    clones_[{original, places[i]}] = clone;
  }
  return absl::OkStatus();
}

absl::Status Sources::PlaceAll() {
  const std::vector<NodeId> order = graph_.order();
  for (size_t i = 0; i < order.size(); ++i) {
    const OpView op = graph_.view(order[i]);
    if (!IsSource(op) || IsUpdated(op)) continue;
    const NodeId next = i + 1 < order.size() ? order[i + 1] : NodeId();
    PARTITA_RETURN_IF_ERROR(PlaceOne(op.id(), next, needs_[op.result(0).id()]));
  }
  return absl::OkStatus();
}

// True if all readers read the same shards as the first reader.
bool Sources::IsReadSharded(const Needs& needs) {
  return !needs.anywhere && !needs.places.empty() &&
         needs.places[0].sharding.kind == Sharding::Kind::kSplit &&
         absl::c_all_of(needs.places, [&](const ShardedPlacement& need) {
           return need == needs.places[0];
         });
}

// An input is fed as shards if all its readers read the same shards; default:
// whole on each device that reads it. An input that only outputs or updates
// read is fed to the first device.
Placement Sources::PlaceOfInput(const Needs& needs) const {
  Placement placement;
  if (IsReadSharded(needs)) {
    placement.devices = needs.places[0].devices;
    placement.results = {needs.places[0].sharding};
    return placement;
  }
  std::set<std::string> readers;
  for (const ShardedPlacement& need : needs.places) {
    readers.insert(need.devices.begin(), need.devices.end());
  }
  if (readers.empty()) readers.insert(machine_.devices[0].traits.name);
  for (std::string& device : MachineOrder(readers)) {
    placement.devices.push_back(std::move(device));
  }
  return placement;
}

// An input without readers stays unplaced and is never fed.
void Sources::PlaceInputs() {
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    const auto it = needs_.find(graph_.inputs()[i]);
    graph_.set_input_placement(
        static_cast<int>(i),
        it == needs_.end() ? Placement() : PlaceOfInput(it->second));
  }
}

ValueId Sources::For(ValueId value, const ShardedPlacement& need) const {
  ValueId source = value;
  for (auto it = clones_.lower_bound({value, {}});
       it != clones_.end() && it->first.first == value; ++it) {
    if (Satisfies(it->first.second, need)) source = it->second;
  }
  return source;
}

void Sources::EraseUnread() {
  for (const OpView& op : graph_.ops()) {
    if (!IsSource(op) || IsUpdated(op)) continue;
    const ValueId value = op.result(0).id();
    if (graph_.value(value).uses.empty() && !graph_.is_output(value)) {
      graph_.Erase(op.id());
    }
  }
}

}  // namespace partita
