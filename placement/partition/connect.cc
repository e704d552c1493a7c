// Makes copy nodes and checks that links exist for them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/connect.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// "%h.gpu1": a colon would have to be quoted in the textual IR.
std::string CopyName(const std::string& name, const ShardedPlacement& place) {
  if (name.empty()) return "";
  return absl::StrCat(name, ".", PlaceSuffix(place));
}

absl::Status NoLink(const std::string& value, const std::string& reader,
                    const std::string& from, const std::string& to) {
  return absl::InvalidArgumentError(absl::StrCat(
      reader, ": found ", value, " needed on ", to, " and made on ", from,
      ", between which the machine has no link; expected a link ", from, " -> ",
      to, "; add the link to the machine file or pin ", reader, " on ", from));
}

}  // namespace

std::string PlaceSuffix(const ShardedPlacement& place) {
  if (place.sharding.kind != Sharding::Kind::kReplicated) {
    return absl::StrCat("split", place.sharding.dim);
  }
  if (place.devices.size() > 1) return "all";
  return absl::StrReplaceAll(place.devices[0], {{":", ""}});
}

Connector::Connector(Graph& graph, const Machine& machine)
    : graph_(graph), links_(machine), next_(graph.node_id_bound()) {
  NodeId previous;
  for (NodeId id : graph.order()) {
    (previous.valid() ? next_[previous] : first_) = id;
    previous = id;
  }
  for (int i = 0; i < graph.value_id_bound(); ++i) {
    names_.insert(graph.value(ValueId(i)).name);
  }
}

NodeId Connector::After(NodeId node) const {
  if (!node.valid()) return first_;
  return node.index < static_cast<int>(next_.size()) ? next_[node] : NodeId();
}

std::string Connector::FreshName(const std::string& name) {
  if (name.empty()) return name;
  std::string fresh = name;
  for (int i = 2; !names_.insert(fresh).second; ++i) {
    fresh = absl::StrCat(name, ".", i);
  }
  return fresh;
}

ShardedPlacement Connector::PlaceOf(ValueId id) const {
  const Value& value = graph_.value(id);
  if (!value.defining_node.valid()) {
    return ResultPlace(graph_.input_placement(value.index), 0);
  }
  return ResultPlace(graph_.node(value.defining_node).placement, value.index);
}

absl::Status Connector::CheckLinks(ValueId value, const ShardedPlacement& have,
                                   const ShardedPlacement& need,
                                   const std::string& reader) const {
  const bool replicated = have.sharding.kind == Sharding::Kind::kReplicated;
  for (const std::string& to : need.devices) {
    const std::string* unreachable = nullptr;
    bool reached = false;
    for (const std::string& from : have.devices) {
      const bool linked = from == to || links_.Find(from, to) != nullptr;
      reached |= linked;
      if (!linked && unreachable == nullptr) unreachable = &from;
    }
    if (unreachable != nullptr && !(replicated && reached)) {
      return NoLink(ValueText(graph_, value), reader, *unreachable, to);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueId> Connector::Copy(ValueId value,
                                        const ShardedPlacement& place,
                                        const std::string& name, NodeId before,
                                        const std::string& reader) {
  const ShardedPlacement have = PlaceOf(value);
  PARTITA_RETURN_IF_ERROR(CheckLinks(value, have, place, reader));
  NodeSpec spec{
      .op = &kCopy, .operands = {value}, .result_names = {FreshName(name)}};
  spec.placement.devices = place.devices;
  if (place.devices.size() > 1 &&
      (have.sharding != Sharding() || place.sharding != Sharding())) {
    spec.placement.operands = {have.sharding};
    spec.placement.results = {place.sharding};
  }
  if (const NodeId source = graph_.value(value).defining_node; source.valid()) {
    spec.scope = graph_.node(source).scope;
    spec.location = graph_.node(source).location;
  }
  PARTITA_ASSIGN_OR_RETURN(const ValueId copy,
                           graph_.AddValue(std::move(spec), before));
  graph_.value(copy).type.layout = graph_.type(value).layout;
  // Copies of this copy follow it.
  while (static_cast<int>(next_.size()) < graph_.node_id_bound()) next_.Add({});
  next_[graph_.value(copy).defining_node] = before;
  return copy;
}

absl::StatusOr<ValueId> Connector::Provide(ValueId value,
                                           const ShardedPlacement& need,
                                           const std::string& reader) {
  const ShardedPlacement have = PlaceOf(value);
  if (Satisfies(have, need)) return value;
  if (have.sharding.kind == Sharding::Kind::kPartial &&
      need.devices != have.devices) {
    PARTITA_ASSIGN_OR_RETURN(const ValueId sum,
                             Provide(value, {have.devices, {}}, reader));
    return Provide(sum, need, reader);
  }
  return CopyOnce(value, need, reader);
}

absl::StatusOr<ValueId> Connector::ProvideFirstOn(const std::string& device,
                                                  ValueId value,
                                                  const std::string& reader) {
  const ShardedPlacement need = {{device}, {}};
  PARTITA_ASSIGN_OR_RETURN(const ValueId whole, Provide(value, need, reader));
  if (PlaceOf(whole).devices[0] == device) return whole;
  return CopyOnce(whole, need, reader);
}

absl::StatusOr<ValueId> Connector::CopyOnce(ValueId value,
                                            const ShardedPlacement& need,
                                            const std::string& reader) {
  const auto key = std::make_pair(value, need);
  if (const auto it = copies_.find(key); it != copies_.end()) return it->second;
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId copy,
      Copy(value, need, CopyName(graph_.value(value).name, need),
           After(graph_.value(value).defining_node), reader));
  copies_.emplace(key, copy);
  return copy;
}

absl::StatusOr<ValueId> Connector::CopyAtEnd(ValueId value,
                                             const ShardedPlacement& place,
                                             const std::string& name,
                                             const std::string& reader) {
  return Copy(value, place, name, NodeId(), reader);
}

}  // namespace partita
