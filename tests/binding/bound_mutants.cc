// Counts the sites of each fault in graph order, bodies included.
// SPDX-License-Identifier: Apache-2.0

#include "tests/binding/bound_mutants.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "graph/core_ops.h"
#include "graph/literal_pool.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

using Sites = MutationSites;

// Calls visit(graph, node) for each node of the graph and of its bodies, until
// it returns true.
bool UntilNode(Graph& graph, const std::function<bool(Graph&, NodeId)>& visit) {
  for (NodeId id : graph.order()) {
    if (visit(graph, id)) return true;
    for (const auto& region : graph.node(id).regions) {
      if (UntilNode(*region, visit)) return true;
    }
  }
  return false;
}

// Reorders have the value of their operand.
ValueId SourceOf(const Graph& graph, ValueId value) {
  const NodeId maker = graph.value(value).defining_node;
  return maker.valid() && graph.view(maker).is(kReorder)
             ? SourceOf(graph, graph.node(maker).operands[0])
             : value;
}

bool AreConstants(const Graph& graph, ValueId a, ValueId b) {
  return ValueView(&graph, a).is_constant() &&
         ValueView(&graph, b).is_constant();
}

// Inputs of a body may be the same operand of the fused node.
bool IsInputOfBody(const Graph& graph, ValueId value) {
  return !graph.value(value).defining_node.valid() &&
         !graph.input_placement(graph.value(value).index).placed();
}

// True if both values are equal: one value in two layouts, two constants or
// inputs of a body, which may be equal, or results of nodes that compute the
// same.
bool MayBeEqual(const Graph& graph, ValueId a, ValueId b) {
  a = SourceOf(graph, a);
  b = SourceOf(graph, b);
  if (a == b || AreConstants(graph, a, b)) return true;
  const NodeId maker_a = graph.value(a).defining_node;
  const NodeId maker_b = graph.value(b).defining_node;
  if (IsInputOfBody(graph, a) && IsInputOfBody(graph, b)) return true;
  if (!maker_a.valid() || !maker_b.valid()) return false;
  const Node& x = graph.node(maker_a);
  const Node& y = graph.node(maker_b);
  if (x.op != y.op || !(x.attributes == y.attributes) ||
      x.operands.size() != y.operands.size() ||
      graph.value(a).index != graph.value(b).index) {
    return false;
  }
  for (size_t i = 0; i < x.operands.size(); ++i) {
    if (!MayBeEqual(graph, x.operands[i], y.operands[i])) return false;
  }
  return true;
}

// True if reading the one in place of the other is a fault.
bool Differ(const Graph& graph, ValueId a, ValueId b) {
  return graph.type(a).RowMajor() == graph.type(b).RowMajor() &&
         !MayBeEqual(graph, a, b);
}

bool IsUnread(const Graph& graph, NodeId id) {
  for (ValueId result : graph.node(id).results) {
    if (!graph.value(result).uses.empty() || graph.is_output(result)) {
      return false;
    }
  }
  return true;
}

void ExchangeOperands(Graph& graph, Sites& sites) {
  UntilNode(graph, [&](Graph& in, NodeId id) {
    const ValueIds operands = in.node(id).operands;
    for (int i = 0; i + 1 < static_cast<int>(operands.size()); ++i) {
      if (IsUnread(in, id) || !Differ(in, operands[i], operands[i + 1]) ||
          !sites.Here()) {
        continue;
      }
      in.SetOperand(id, i, operands[i + 1]);
      in.SetOperand(id, i + 1, operands[i]);
      return true;
    }
    return false;
  });
}

// True if the value is an input or a result of a node before `id`.
bool IsDefinedBefore(const Graph& graph, ValueId value, NodeId id) {
  const NodeId maker = graph.value(value).defining_node;
  if (!maker.valid()) return true;
  if (!graph.alive(maker)) return false;
  for (NodeId node : graph.order()) {
    if (node == maker || node == id) return node == maker && node != id;
  }
  return false;
}

// Each operand in turn becomes the last value before it of the same type.
void ReadAnotherValue(Graph& graph, Sites& sites) {
  UntilNode(graph, [&](Graph& in, NodeId id) {
    const Node& node = in.node(id);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId operand = node.operands[i];
      for (int other = operand.index - 1; other >= 0; --other) {
        if (!Differ(in, ValueId(other), operand) ||
            !IsDefinedBefore(in, ValueId(other), id)) {
          continue;
        }
        if (IsUnread(in, id) || !sites.Here()) break;
        in.SetOperand(id, static_cast<int>(i), ValueId(other));
        return true;
      }
    }
    return false;
  });
}

DType OtherDType(DType dtype) {
  return dtype == DType::kF32 ? DType::kI32 : DType::kF32;
}

// Another value of the same kind.
AttributeValue Other(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> AttributeValue {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, int64_t>) {
          return held + 1;
        } else if constexpr (std::is_same_v<Held, bool>) {
          return !held;
        } else if constexpr (std::is_same_v<Held, double>) {
          return held == 0 ? -held : held * 2;  // 0.0 and -0.0 differ
        } else if constexpr (std::is_same_v<Held, std::string>) {
          return held + "b";
        } else if constexpr (std::is_same_v<Held, std::vector<int64_t>> ||
                             std::is_same_v<Held, std::vector<double>>) {
          Held other = held;
          if (other.empty()) return Held{1};
          other.back() += 1;
          return other;
        } else if constexpr (std::is_same_v<Held, DType>) {
          return OtherDType(held);
        } else if constexpr (std::is_same_v<Held, Number>) {
          return Number(held.ToDouble() + 0.5);
        } else {
          return held;
        }
      },
      value);
}

void ChangeAttribute(Graph& graph, Sites& sites) {
  UntilNode(graph, [&](Graph& in, NodeId id) {
    Node& node = in.node(id);
    if (node.op == &kConstant || IsUnread(in, id)) return false;
    for (const AttrDef& attr : node.op->attrs) {
      if (attr.name == nullptr || !sites.Here()) continue;
      const AttributeValue* stored = node.attributes.Find(attr.name);
      node.attributes.Set(
          attr.name, Other(stored != nullptr ? *stored : DefaultValue(attr)));
      return true;
    }
    return false;
  });
}

// The bytes of the literal with one bit of byte `at` changed.
LiteralId WithOtherByte(LiteralPool& literals, LiteralId literal, int64_t at) {
  HostTensor changed = literals.tensor(literal).Clone();
  changed.bytes()[at] ^= std::byte{1};
  return literals.Add(std::move(changed));
}

// In the first, the last and a middle byte: also in padding.
void ChangeConstant(Graph& graph, Sites& sites) {
  UntilNode(graph, [&](Graph& in, NodeId id) {
    const OpView op = in.view(id);
    if (!op.is(kConstant) || IsUnread(in, id)) return false;
    const LiteralId literal = op.attr_literal("value");
    const int64_t bytes = in.literals().type(literal).num_bytes();
    for (int64_t at : {int64_t{0}, bytes / 2, bytes - 1}) {
      if (bytes == 0 || !sites.Here()) continue;
      in.node(id).attributes.Set("value",
                                 WithOtherByte(in.literals(), literal, at));
      return true;
    }
    return false;
  });
}

void ChangeDevice(Graph& graph, Sites& sites) {
  for (NodeId id : graph.order()) {
    for (std::string& device : graph.node(id).placement.devices) {
      if (IsUnread(graph, id) || !sites.Here()) continue;
      device = "other:0";
      return;
    }
  }
}

void ChangeSharding(Graph& graph, Sites& sites) {
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    const auto change = [&](const ValueIds& values,
                            std::vector<Sharding>& shardings) {
      for (size_t i = 0; i < shardings.size(); ++i) {
        if (IsUnread(graph, id) || graph.type(values[i]).rank() == 0 ||
            !sites.Here()) {
          continue;
        }
        Sharding other{.kind = Sharding::Kind::kSplit};
        if (shardings[i] != Sharding()) other = {};
        shardings[i] = other;
      }
    };
    change(node.operands, node.placement.operands);
    change(node.results, node.placement.results);
  }
}

Layout OtherLayout(const TensorType& type) {
  Layout other;
  if (!type.layout.is_row_major()) return other;
  for (int dim = type.rank() - 1; dim >= 0; --dim) {
    other.order.push_back(static_cast<uint8_t>(dim));
  }
  return other;
}

// The result of a copy, a bucket or a sum over micro-batches, which no kernel
// writes.
void ChangeLayout(Graph& graph, Sites& sites) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const OpTraits& traits = node.op->traits;
    if (!traits.placed_only || !traits.keeps_layout || IsUnread(graph, id)) {
      continue;
    }
    for (ValueId result : node.results) {
      TensorType& type = graph.value(result).type;
      if (type.rank() < 2 || !sites.Here()) continue;
      type.layout = OtherLayout(type);
      return;
    }
  }
}

// The result of a reorder, which its attribute states too.
void ChangeReorder(Graph& graph, Sites& sites) {
  for (const OpView& op : graph.ops(kReorder)) {
    TensorType& type = graph.value(op.result(0).id()).type;
    if (IsUnread(graph, op.id()) || type.rank() < 2 || !sites.Here()) continue;
    type.layout = OtherLayout(type);
    return;
  }
}

// Readers of a node read its operand: a copy, an activation or a tail is lost.
void DropNode(Graph& graph, Sites& sites) {
  UntilNode(graph, [&](Graph& in, NodeId id) {
    const OpView op = in.view(id);
    if (op.is(kReorder) || op.num_results() != 1 || IsUnread(in, id)) {
      return false;
    }
    for (ValueId operand : op.node().operands) {
      if (in.type(operand).RowMajor() != op.result_type(0).RowMajor() ||
          !sites.Here()) {
        continue;
      }
      in.ReplaceAllUses(op.result(0).id(), operand);
      return true;
    }
    return false;
  });
}

// A second node computes the same for one of two readers.
void DuplicateNode(Graph& graph, Sites& sites) {
  for (NodeId id : graph.order()) {
    const OpView op = graph.view(id);
    if (op.is(kReorder) || op.is(kConstant) || op.num_results() != 1) continue;
    const Value& result = graph.value(op.result(0).id());
    if (result.uses.empty()) continue;
    const Use use = result.uses[0];
    const bool has_other_reader =
        result.uses.size() + graph.is_output(op.result(0).id()) > 1;
    if (!has_other_reader || IsUnread(graph, use.node) || !sites.Here()) {
      continue;
    }
    const NodeId twin = *graph.AddNode(
        CopyOf(op.node(), op.node().operands, &graph.literals()), id);
    graph.SetOperand(use.node, use.operand, graph.node(twin).results[0]);
    return;
  }
}

void LoseUpdate(Graph& graph, Sites& sites) {
  std::vector<VariableUpdate> updates = graph.updates();
  for (size_t i = 0; i < updates.size(); ++i) {
    if (!sites.Here()) continue;
    updates.erase(updates.begin() + static_cast<int64_t>(i));
    graph.SetUpdates(std::move(updates));
    return;
  }
}

// A variable keeps its value.
void UndoUpdate(Graph& graph, Sites& sites) {
  for (size_t i = 0; i < graph.updates().size(); ++i) {
    for (const OpView& op : graph.ops(kVariable)) {
      if (op.attr_string("name") != graph.updates()[i].variable ||
          !sites.Here()) {
        continue;
      }
      graph.SetUpdate(static_cast<int>(i), op.result(0).id());
      return;
    }
  }
}

void ExchangeUpdates(Graph& graph, Sites& sites) {
  for (size_t i = 0; i + 1 < graph.updates().size(); ++i) {
    if (!sites.Here()) continue;
    const ValueId first = graph.updates()[i].value;
    graph.SetUpdate(static_cast<int>(i), graph.updates()[i + 1].value);
    graph.SetUpdate(static_cast<int>(i) + 1, first);
    return;
  }
}

void ChangeOutput(Graph& graph, Sites& sites) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const ValueId output = graph.outputs()[i];
    for (int other = 0; other < graph.value_id_bound(); ++other) {
      const NodeId maker = graph.value(ValueId(other)).defining_node;
      if ((maker.valid() && !graph.alive(maker)) ||
          !Differ(graph, ValueId(other), output)) {
        continue;
      }
      if (!sites.Here()) continue;
      graph.SetOutput(static_cast<int>(i), ValueId(other));
      return;
    }
  }
}

void ChangeInput(Graph& graph, Sites& sites) {
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    Value& value = graph.value(graph.inputs()[i]);
    if (sites.Here()) value.name += "_other";
    if (sites.Here()) value.type.dtype = OtherDType(value.type.dtype);
    if (!sites.Here()) continue;
    Placement placement;
    placement.devices = {"other:0"};
    graph.set_input_placement(static_cast<int>(i), placement);
  }
}

}  // namespace

std::vector<BoundMutation> BoundMutations() {
  return {
      {"exchanged operands", ExchangeOperands},
      {"another operand", ReadAnotherValue},
      {"another attribute", ChangeAttribute},
      {"another constant", ChangeConstant},
      {"another device", ChangeDevice},
      {"another sharding", ChangeSharding},
      {"another layout", ChangeLayout},
      {"another reorder", ChangeReorder},
      {"a dropped node", DropNode},
      {"a node twice", DuplicateNode},
      {"a lost update", LoseUpdate},
      {"an undone update", UndoUpdate},
      {"exchanged updates", ExchangeUpdates},
      {"another output", ChangeOutput},
      {"another input", ChangeInput},
  };
}

}  // namespace partita
