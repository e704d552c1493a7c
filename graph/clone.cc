// Copies of graphs.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {
namespace {

ValueIds Mapped(const ValueIds& ids, const std::vector<ValueId>& mapped) {
  ValueIds result;
  for (ValueId id : ids) result.push_back(mapped[id.index]);
  return result;
}

}  // namespace

NodeSpec CopyOf(const Node& node, ValueIds operands, LiteralPool* literals) {
  NodeSpec spec{.op = node.op,
                .operands = std::move(operands),
                .attributes = node.attributes,
                .regions = {},
                .result_names = {},
                .scope = node.scope,
                .location = node.location,
                .placement = node.placement};
  for (const auto& region : node.regions) {
    spec.regions.push_back(region->Clone(literals));
  }
  return spec;
}

std::unique_ptr<Graph> Graph::Clone(LiteralPool* literals) const {
  auto copy = std::make_unique<Graph>(name_, literals);
  std::vector<ValueId> mapped(values_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Value& input = value(inputs_[i]);
    mapped[inputs_[i].index] = copy->AddInput(input.name, input.type);
    copy->set_input_placement(static_cast<int>(i), input_placements_[i]);
  }
  for (NodeId id : order()) {
    // The node was inferred when it was made, so it is inferred again.
    const NodeId twin = *copy->AddNode(
        CopyOf(node(id), Mapped(node(id).operands, mapped), literals));
    copy->node(twin).kernel = node(id).kernel;
    for (size_t i = 0; i < node(id).results.size(); ++i) {
      const ValueId from = node(id).results[i];
      const ValueId to = copy->node(twin).results[i];
      mapped[from.index] = to;
      copy->value(to).name = value(from).name;
      copy->value(to).type.layout = type(from).layout;
    }
  }
  std::vector<ValueId> outputs;
  for (ValueId output : outputs_) outputs.push_back(mapped[output.index]);
  copy->SetOutputs(std::move(outputs), output_names_);
  for (const VariableUpdate& update : updates_) {
    copy->AddUpdate({update.variable, mapped[update.value.index]});
  }
  return copy;
}

}  // namespace partita
