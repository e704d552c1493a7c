// Constants first; variables when all their readers are known.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/weights.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {

absl::Status CheckDense(const onnx::GraphProto& graph) {
  if (graph.sparse_initializer_size() == 0) return absl::OkStatus();
  return absl::UnimplementedError(
      "found sparse initializers; expected dense ones");
}

Weights::Weights(const onnx::GraphProto& model, Module& module,
                 WeightFiles& files)
    : module_(module), graph_(module.main()), files_(files) {
  FindReaders(model);
}

// The direct readers of each name, except Identity.
void Weights::FindReaders(const onnx::GraphProto& model) {
  for (const onnx::NodeProto& node : model.node()) {
    if (node.op_type() == "Identity") continue;
    const bool is_norm = node.op_type() == "BatchNormalization";
    for (int i = 0; i < node.input_size(); ++i) {
      (is_norm && i >= 3 ? statistics_ : others_).insert(node.input(i));
    }
  }
}

absl::Status Weights::AddInitializers(const onnx::GraphProto& graph,
                                      Scope& scope) {
  PARTITA_RETURN_IF_ERROR(CheckDense(graph));
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    PARTITA_ASSIGN_OR_RETURN(const LiteralId literal,
                             files_.Add(tensor, module_.literals()));
    PARTITA_RETURN_IF_ERROR(Define(tensor.name(), literal, scope));
  }
  return absl::OkStatus();
}

absl::Status Weights::Define(const std::string& name, LiteralId literal,
                             Scope& scope) {
  const std::string full_name = absl::StrCat(scope.prefix(), name);
  const ValueId constant = graph_.AddConstant(literal, full_name);
  weights_.push_back({full_name, constant});
  constants_.insert(constant);
  return DefineOnce(name, constant, scope);
}

bool Weights::IsOtherRole(const onnx::NodeProto& node,
                          const Scope& scope) const {
  if (!scope.is_models_graph() || node.op_type() != "Identity" ||
      node.input_size() != 1 || node.output_size() != 1) {
    return false;
  }
  const std::optional<ValueId> read = scope.Find(node.input(0));
  if (!read.has_value() || !constants_.contains(*read)) return false;
  const std::string& weight = graph_.value(*read).name;
  return statistics_.contains(node.output(0)) ||
         (statistics_.contains(weight) && others_.contains(node.output(0)));
}

// Those that are not statistics stay one variable.
absl::Status Weights::DefineOtherRole(const onnx::NodeProto& node,
                                      Scope& scope) {
  const ValueId weight = *scope.Find(node.input(0));
  const std::string& name = node.output(0);
  const auto trained = trained_.find(weight);
  if (!statistics_.contains(name) && trained != trained_.end()) {
    return DefineOnce(name, trained->second, scope);
  }
  PARTITA_RETURN_IF_ERROR(Define(
      name,
      graph_.view(graph_.value(weight).defining_node).attr_literal("value"),
      scope));
  if (!statistics_.contains(name)) trained_[weight] = *scope.Find(name);
  return absl::OkStatus();
}

void Weights::MakeVariables() {
  for (const Weight& weight : weights_) {
    const TensorType& type = graph_.type(weight.constant);
    const bool is_weight = IsFloat(type.dtype) && type.rank() > 0 &&
                           !graph_.value(weight.constant).uses.empty();
    if (is_weight) MakeVariable(weight);
  }
}

void Weights::MakeVariable(const Weight& weight) {
  const TensorType type = graph_.type(weight.constant);
  const NodeId node = graph_.value(weight.constant).defining_node;
  module_.AddVariable({weight.name, type,
                       graph_.view(node).attr_literal("value"),
                       /*trainable=*/!IsStatistic(weight.constant)});
  NodeSpec read{
      .op = &kVariable,
      .attributes = {{"name", weight.name},
                     {"dtype", type.dtype},
                     {"shape", std::vector<int64_t>(type.dims.begin(),
                                                    type.dims.end())}},
      .result_names = {weight.name}};
  graph_.ReplaceAllUses(weight.constant,
                        *graph_.AddValue(std::move(read), node));
  graph_.Erase(node);
}

bool Weights::IsStatistic(ValueId value) const {
  return absl::c_any_of(graph_.value(value).uses, [&](const Use& use) {
    return graph_.node(use.node).op == &kBatchNorm && use.operand >= 3;
  });
}

}  // namespace partita
