// Packing constants and placing reorders.
// SPDX-License-Identifier: Apache-2.0

#include "passes/layout_state.h"

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
  // The address tells constants apart; the type does for those of no bytes.
  auto& packed = packed_[{constant.bytes(), type.ToString()}];
  if (packed == nullptr) {
    HostTensor tensor(std::move(type));
    ConvertLayout(constant, tensor);
    packed = std::make_shared<const HostTensor>(std::move(tensor));
  }
  return packed;
}

double LayoutState::ReorderSeconds(ValueId value, const Layout& layout,
                                   const DeviceTraits& device) const {
  const TensorType& type = graph_.type(value);
  if (type.layout == layout) return 0;
  if (ValueView(&graph_, value).is_constant()) return 0;
  if (made_.contains({value, layout.ToString()})) return 0;
  const double bytes = 2.0 * type.num_bytes();
  const double moving =
      device.memory_bandwidth > 0 ? bytes / device.memory_bandwidth : 0;
  return device.launch_seconds + moving;
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
                                              const Placement& placement,
                                              NodeId before, NodeId& made) {
  if (graph_.type(value).layout == layout) return value;
  const auto key = std::make_pair(value, layout.ToString());
  if (auto it = made_.find(key); it != made_.end()) return it->second;
  if (ValueView(&graph_, value).is_constant()) {
    return made_[key] = PackConstant(value, layout, before);
  }
  PARTITA_ASSIGN_OR_RETURN(
      made, graph_.AddNode({.op = &kReorder,
                            .operands = {value},
                            .attributes = {{"layout", layout.ToString()}},
                            .placement = placement},
                           before));
  const ValueId result = graph_.node(made).results[0];
  graph_.value(result).type.layout = layout;
  return made_[key] = result;
}

}  // namespace partita
