// Gradients as tensors of the builder.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/builder/graph_builder.h"
#include "graph/core_ops.h"
#include "graph/gradient/gradient.h"
#include "graph/op_view.h"

namespace partita {

std::vector<Tensor> GraphBuilder::Gradients(Tensor loss,
                                            absl::Span<const Tensor> wanted,
                                            CallSite site) {
  if (!Accepts(loss, site)) return std::vector<Tensor>(wanted.size());
  std::vector<ValueId> values;
  for (const Tensor& tensor : wanted) {
    if (!Accepts(tensor, site)) return std::vector<Tensor>(wanted.size());
    values.push_back(tensor.id());
  }
  const Loss whole = {loss.id(), {}};
  const auto gradients =
      AddGradients(*graph_, absl::MakeConstSpan(&whole, 1), values);
  if (!gradients.ok()) {
    status_ = gradients.status();
    return std::vector<Tensor>(wanted.size());
  }
  std::vector<Tensor> tensors;
  for (ValueId id : *gradients) tensors.push_back({this, graph_, id});
  return tensors;
}

std::vector<Parameter> GraphBuilder::Gradients(Tensor loss, CallSite site) {
  if (!Accepts(loss, site)) return {};
  std::vector<std::string> names;
  std::vector<Parameter> parameters;
  for (const partita::Variable& variable : module_.variables()) {
    if (!variable.trainable) continue;
    for (const OpView& op : graph_->ops(kVariable)) {
      if (op.attr_string("name") != variable.name) continue;
      names.push_back(variable.name);
      parameters.push_back(
          {variable.name, {this, graph_, op.result(0).id()}, {}});
      break;
    }
  }
  const auto gradients = AddVariableGradients(*graph_, loss.id(), names);
  if (!gradients.ok()) {
    status_ = gradients.status();
    return {};
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].gradient = {this, graph_, (*gradients)[i]};
  }
  return parameters;
}

}  // namespace partita
