// Copies the nodes one by one.
// SPDX-License-Identifier: Apache-2.0

#include "graph/fused_body.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {

FusedBody::FusedBody(const Graph& graph)
    : graph_(&graph),
      body_(std::make_unique<Graph>("body", &graph.literals())) {}

absl::StatusOr<FusedBody> FusedBody::Of(const Graph& graph,
                                        absl::Span<const NodeId> nodes) {
  FusedBody body(graph);
  for (NodeId node : nodes) PARTITA_RETURN_IF_ERROR(body.Add(node));
  return body;
}

void FusedBody::SetResults(const ValueIds& results) {
  std::vector<ValueId> outputs;
  for (ValueId result : results) outputs.push_back(inner_.at(result));
  body_->SetOutputs(std::move(outputs));
}

absl::Status FusedBody::Add(NodeId id) {
  const Node& node = graph_->node(id);
  ValueIds operands;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    Reading reading{.value = node.operands[i]};
    if (!node.op->traits.elementwise) {
      reading.reader = id;
      reading.operand = static_cast<int>(i);
    }
    operands.push_back(Inner(reading));
  }
  NodeSpec spec = CopyOf(node, std::move(operands), &graph_->literals());
  spec.placement = {};
  for (ValueId result : node.results) {
    spec.result_names.push_back(graph_->value(result).name);
  }
  PARTITA_ASSIGN_OR_RETURN(const NodeId twin, body_->AddNode(std::move(spec)));
  for (size_t i = 0; i < node.results.size(); ++i) {
    inner_[node.results[i]] = body_->node(twin).results[i];
  }
  return absl::OkStatus();
}

ValueId FusedBody::Inner(const Reading& reading) {
  const ValueId outer = reading.value;
  if (auto it = inner_.find(outer); it != inner_.end()) return it->second;
  const auto [input, is_new] = inputs_.try_emplace(reading);
  if (is_new) {
    operands_.push_back(outer);
    input->second =
        body_->AddInput(InputName(outer), graph_->type(outer).RowMajor());
  }
  return input->second;
}

// Names in a body must be unique.
std::string FusedBody::InputName(ValueId outer) const {
  const std::string& name = graph_->value(outer).name;
  const bool taken = absl::c_any_of(body_->inputs(), [&](ValueId input) {
    return body_->value(input).name == name;
  });
  return taken ? "" : name;
}

absl::StatusOr<std::unique_ptr<Graph>> FusedAlone(
    const Graph& graph, absl::Span<const NodeId> nodes, const ValueIds& results,
    Placement placement) {
  PARTITA_ASSIGN_OR_RETURN(FusedBody body, FusedBody::Of(graph, nodes));
  body.SetResults(results);
  auto alone = std::make_unique<Graph>("alone", &graph.literals());
  NodeSpec spec{.op = &kFused, .placement = std::move(placement)};
  absl::flat_hash_map<ValueId, ValueId> twins;
  for (ValueId operand : body.operands()) {
    const auto [twin, is_new] = twins.try_emplace(operand);
    if (is_new) {
      const ValueView value(&graph, operand);
      twin->second =
          value.is_constant()
              ? alone->AddConstant(value.defining_op()->attr_literal("value"))
              : alone->AddInput("", value.type().RowMajor());
    }
    spec.operands.push_back(twin->second);
  }
  spec.regions.push_back(body.Take());
  PARTITA_RETURN_IF_ERROR(alone->AddNode(std::move(spec)).status());
  return alone;
}

}  // namespace partita
