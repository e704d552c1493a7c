// Packs constants and inserts reorders.
// SPDX-License-Identifier: Apache-2.0

#include "binding/layout_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {

std::shared_ptr<const HostTensor> PackedConstants::Get(
    const HostTensor& constant, const Layout& layout) {
  TensorType type = constant.type();
  type.layout = layout;
  // The address identifies a constant; the type does for constants without
  // bytes.
  auto& packed = packed_[{constant.bytes(), type.ToString()}];
  if (packed == nullptr) {
    HostTensor tensor(std::move(type));
    ConvertLayout(constant, tensor);
    packed = std::make_shared<const HostTensor>(std::move(tensor));
  }
  return packed;
}

LayoutState::Key LayoutState::KeyOf(ValueId value, const Layout& layout,
                                    const Devices& devices) const {
  Key key{value, layout.ToString(), {}};
  if (!IsPackable(value)) {
    std::get<2>(key).assign(devices.begin(), devices.end());
  }
  return key;
}

bool LayoutState::IsPackable(ValueId value) const {
  if (!ValueView(&graph_, value).is_constant()) return false;
  const Node& maker = graph_.node(graph_.value(value).defining_node);
  return maker.placement.results.empty() ||
         maker.placement.results[0] == Sharding();
}

double LayoutState::ReorderSeconds(ValueId value, const Layout& layout,
                                   const Devices& devices,
                                   const DeviceTraits& device) const {
  const TensorType& type = graph_.type(value);
  if (type.layout == layout) return 0;
  if (IsPackable(value)) return 0;
  if (made_.contains(KeyOf(value, layout, devices))) return 0;
  return catalog_.ReorderSeconds(type, layout, device);
}

ValueId LayoutState::PackConstant(ValueId value, const Layout& layout,
                                  NodeId before) {
  const NodeId maker = graph_.value(value).defining_node;
  const ValueId constant =
      graph_.AddConstant(graph_.literals().AddShared(packed_.Get(
                             *ValueView(&graph_, value).constant(), layout)),
                         graph_.value(value).name, before);
  graph_.value(constant).type.layout = layout;
  graph_.node(graph_.value(constant).defining_node).placement =
      graph_.node(maker).placement;
  return constant;
}

absl::StatusOr<ValueId> LayoutState::InLayout(ValueId value,
                                              const Layout& layout,
                                              const Devices& devices,
                                              NodeId before, NodeId& made) {
  if (graph_.type(value).layout == layout) return value;
  Key key = KeyOf(value, layout, devices);
  if (auto it = made_.find(key); it != made_.end()) return it->second;
  if (IsPackable(value)) {
    return made_[std::move(key)] = PackConstant(value, layout, before);
  }
  Placement placement{.devices = devices};
  const Value& given = graph_.value(value);
  const bool is_input = !given.defining_node.valid();
  const Placement& source = is_input
                                ? graph_.input_placement(given.index)
                                : graph_.node(given.defining_node).placement;
  if (devices.size() > 1 && !source.results.empty()) {
    placement.operands =
        placement.results = {source.results[is_input ? 0 : given.index]};
  }
  PARTITA_ASSIGN_OR_RETURN(
      made, graph_.AddNode({.op = &kReorder,
                            .operands = {value},
                            .attributes = {{"layout", layout.ToString()}},
                            .placement = std::move(placement)},
                           before));
  const ValueId result = graph_.node(made).results[0];
  graph_.value(result).type.layout = layout;
  return made_[std::move(key)] = result;
}

}  // namespace partita
