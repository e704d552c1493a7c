// Building and changing graphs while keeping uses and order right.
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_error.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {

Graph::Graph(std::string name, LiteralPool* literals)
    : name_(std::move(name)), literals_(literals) {}

ValueId Graph::AddInput(std::string name, TensorType type) {
  const ValueId id(value_id_bound());
  values_.push_back({.name = std::move(name),
                     .type = std::move(type),
                     .defining_node = {},
                     .index = static_cast<int>(inputs_.size())});
  inputs_.push_back(id);
  input_placements_.emplace_back();
  return id;
}

absl::Status Graph::Infer(NodeId id, std::vector<TensorType>& types) const {
  const OpView op(this, id);
  PARTITA_RETURN_IF_ERROR(CheckSignature(op));
  Types results;
  PARTITA_RETURN_IF_ERROR(op.op().infer(op, results));
  types = std::move(results.types);
  return absl::OkStatus();
}

absl::StatusOr<NodeId> Graph::AddNode(NodeSpec spec, NodeId before) {
  const NodeId id(node_id_bound());
  Slot& slot = nodes_.emplace_back();
  slot.node = {.op = spec.op,
               .operands = std::move(spec.operands),
               .results = {},
               .attributes = WithoutDefaults(*spec.op, spec.attributes),
               .regions = std::move(spec.regions),
               .scope = std::move(spec.scope),
               .location = std::move(spec.location),
               .placement = std::move(spec.placement),
               .kernel = std::nullopt};
  std::vector<TensorType> types;
  if (absl::Status status = Infer(id, types); !status.ok()) {
    nodes_.pop_back();
    return status;
  }
  slot.alive = true;
  ++num_alive_;
  for (size_t i = 0; i < types.size(); ++i) {
    slot.node.results.push_back(ValueId(value_id_bound()));
    values_.push_back({.name = i < spec.result_names.size()
                                   ? std::move(spec.result_names[i])
                                   : std::string(),
                       .type = std::move(types[i]),
                       .defining_node = id,
                       .index = static_cast<int>(i)});
  }
  for (size_t i = 0; i < slot.node.operands.size(); ++i) {
    values_[slot.node.operands[i].index].uses.push_back(
        {id, static_cast<int>(i)});
  }
  Link(id, before);
  return id;
}

absl::StatusOr<ValueId> Graph::AddValue(NodeSpec spec, NodeId before) {
  PARTITA_ASSIGN_OR_RETURN(const NodeId id, AddNode(std::move(spec), before));
  return node(id).results[0];
}

ValueId Graph::AddConstant(LiteralId literal, std::string name, NodeId before) {
  // A constant's inference reads the literal's type, which is always sound.
  return *AddValue({.op = &kConstant,
                    .attributes = {{"value", literal}},
                    .result_names = {std::move(name)}},
                   before);
}

void Graph::SetOutputs(std::vector<ValueId> outputs,
                       std::vector<std::string> names) {
  for (ValueId output : outputs_) CountOutput(output, {});
  outputs_ = std::move(outputs);
  for (ValueId output : outputs_) CountOutput({}, output);
  output_names_ = std::move(names);
  for (size_t i = output_names_.size(); i < outputs_.size(); ++i) {
    const std::string& name = value(outputs_[i]).name;
    output_names_.push_back(name.empty() ? absl::StrCat("output_", i) : name);
  }
  output_names_.resize(outputs_.size());
}

void Graph::AddUpdate(VariableUpdate update) {
  CountOutput({}, update.value);
  updates_.push_back(std::move(update));
}

OpView Graph::view(NodeId id) const { return OpView(this, id); }

bool Graph::alive(NodeId id) const {
  return id.valid() && id.index < node_id_bound() && nodes_[id.index].alive;
}

std::vector<NodeId> Graph::order() const {
  std::vector<NodeId> order;
  order.reserve(num_alive_);
  for (NodeId id = first_; id.valid(); id = nodes_[id.index].next) {
    order.push_back(id);
  }
  return order;
}

std::vector<OpView> Graph::ops() const {
  std::vector<OpView> views;
  views.reserve(num_alive_);
  for (NodeId id = first_; id.valid(); id = nodes_[id.index].next) {
    views.push_back(view(id));
  }
  return views;
}

std::vector<OpView> Graph::ops(const OpDef& op) const {
  std::vector<OpView> views;
  for (NodeId id = first_; id.valid(); id = nodes_[id.index].next) {
    if (node(id).op == &op) views.push_back(view(id));
  }
  return views;
}

const Placement& Graph::input_placement(int input) const {
  return input_placements_[input];
}

void Graph::set_input_placement(int input, Placement placement) {
  input_placements_[input] = std::move(placement);
}

void Graph::ReplaceAllUses(ValueId from, ValueId to) {
  if (from == to) return;
  Value& source = values_[from.index];
  for (const Use& use : source.uses) {
    nodes_[use.node.index].node.operands[use.operand] = to;
    values_[to.index].uses.push_back(use);
  }
  source.uses.clear();
  if (source.num_outputs == 0) return;
  for (ValueId& output : outputs_) {
    if (output == from) output = to;
  }
  for (VariableUpdate& update : updates_) {
    if (update.value == from) update.value = to;
  }
  values_[to.index].num_outputs += std::exchange(source.num_outputs, 0);
}

void Graph::CountOutput(ValueId from, ValueId to) {
  if (from.valid()) --values_[from.index].num_outputs;
  if (to.valid()) ++values_[to.index].num_outputs;
}

void Graph::DropUse(ValueId id, Use use) {
  auto& uses = values_[id.index].uses;
  uses.erase(std::find(uses.begin(), uses.end(), use));
}

void Graph::SetOperand(NodeId id, int operand, ValueId value) {
  ValueId& slot = nodes_[id.index].node.operands[operand];
  DropUse(slot, {id, operand});
  slot = value;
  values_[value.index].uses.push_back({id, operand});
}

void Graph::SetOperands(NodeId id, absl::Span<const ValueId> operands) {
  Node& changed = nodes_[id.index].node;
  for (size_t i = 0; i < changed.operands.size(); ++i) {
    DropUse(changed.operands[i], {id, static_cast<int>(i)});
  }
  changed.operands.assign(operands.begin(), operands.end());
  for (size_t i = 0; i < operands.size(); ++i) {
    values_[operands[i].index].uses.push_back({id, static_cast<int>(i)});
  }
}

void Graph::SetOutput(int output, ValueId value) {
  CountOutput(outputs_[output], value);
  outputs_[output] = value;
}

void Graph::SetUpdate(int update, ValueId value) {
  CountOutput(updates_[update].value, value);
  updates_[update].value = value;
}

void Graph::SetUpdates(std::vector<VariableUpdate> updates) {
  for (const VariableUpdate& update : updates_) CountOutput(update.value, {});
  updates_ = std::move(updates);
  for (const VariableUpdate& update : updates_) CountOutput({}, update.value);
}

void Graph::Erase(NodeId id) {
  Slot& slot = nodes_[id.index];
  for (size_t i = 0; i < slot.node.operands.size(); ++i) {
    DropUse(slot.node.operands[i], {id, static_cast<int>(i)});
  }
  Unlink(id);
  slot.node = Node();
  slot.alive = false;
  --num_alive_;
}

void Graph::MoveBefore(NodeId node, NodeId before) {
  if (node == before) return;
  Unlink(node);
  Link(node, before);
}

absl::Status Graph::InferAgain(NodeId id) {
  std::vector<TensorType> types;
  PARTITA_RETURN_IF_ERROR(Infer(id, types));
  const ValueIds& results = node(id).results;
  if (types.size() != results.size()) {
    return BadOp(view(id), absl::StrCat(types.size(), " results"),
                 absl::StrCat("the ", results.size(), " that it has"),
                 "make another node");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    values_[results[i].index].type = std::move(types[i]);
  }
  return absl::OkStatus();
}

void Graph::Link(NodeId id, NodeId before) {
  Slot& slot = nodes_[id.index];
  slot.next = before;
  slot.previous = before.valid() ? nodes_[before.index].previous : last_;
  (slot.previous.valid() ? nodes_[slot.previous.index].next : first_) = id;
  (before.valid() ? nodes_[before.index].previous : last_) = id;
}

void Graph::Unlink(NodeId id) {
  const Slot& slot = nodes_[id.index];
  (slot.previous.valid() ? nodes_[slot.previous.index].next : first_) =
      slot.next;
  (slot.next.valid() ? nodes_[slot.next.index].previous : last_) =
      slot.previous;
}

}  // namespace partita
