// Builds the graphs of placement's tests.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/testing/sample_graphs.h"

#include <utility>

#include "graph/core_ops.h"
#include "graph/op_def.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  return results.Set(0, {DType::kF32, {op.attr_int("elements")}, {}});
}

absl::Status Evaluate(const OpView&, absl::Span<const HostTensor> operands,
                      absl::Span<HostTensor> results) {
  double sum = 0;
  for (const HostTensor& operand : operands) {
    for (float x : operand.data<float>()) sum += x;
  }
  for (float& y : results[0].data<float>()) y = static_cast<float>(sum);
  return absl::OkStatus();
}

}  // namespace

extern constinit const OpDef kSampleWork = {
    .name = "work",
    .doc = "The sum of all operands' elements, everywhere; for tests.",
    .operands = {{{"x", kVariadic}}},
    .attrs = {{RequiredAttr("elements", AttributeKind::kInt)}},
    .infer = Infer,
    .eval = Evaluate,
};

SampleGraph::SampleGraph() : graph_(&module_.AddFunction("sample")) {}

ValueId SampleGraph::Input(const std::string& name, int64_t elements) {
  return graph_->AddInput(name, {DType::kF32, {elements}, {}});
}

ValueId SampleGraph::Weight(const std::string& name, int64_t elements) {
  const LiteralId literal =
      graph_->literals().Add(HostTensor({DType::kF32, {elements}, {}}));
  return graph_->AddConstant(literal, name);
}

ValueId SampleGraph::Variable(const std::string& name, int64_t elements) {
  const TensorType type = {DType::kF32, {elements}, {}};
  const LiteralId initial = graph_->literals().Add(HostTensor(type));
  module_.AddVariable({name, type, initial, /*trainable=*/true});
  NodeSpec spec;
  spec.op = &kVariable;
  spec.attributes = {{"name", name},
                     {"dtype", type.dtype},
                     {"shape", std::vector<int64_t>{elements}}};
  spec.result_names = {name};
  return graph_->AddValue(std::move(spec)).value();
}

ValueId SampleGraph::Work(const std::string& name,
                          const std::vector<ValueId>& operands,
                          int64_t elements, const std::string& scope) {
  NodeSpec spec;
  spec.op = &kSampleWork;
  spec.operands.assign(operands.begin(), operands.end());
  spec.attributes = {{"elements", elements}};
  spec.result_names = {name};
  spec.scope = scope;
  return graph_->AddValue(std::move(spec)).value();
}

void SampleGraph::Return(const std::vector<ValueId>& outputs) {
  graph_->SetOutputs(outputs);
}

void SampleGraph::Update(const std::string& variable, ValueId value) {
  graph_->AddUpdate({variable, value});
}

SampleCatalog::SampleCatalog()
    : SampleCatalog([](const std::string&, const DeviceTraits&) { return 1; }) {
}

SampleCatalog::SampleCatalog(SampleSeconds seconds, int64_t workspace)
    : seconds_(std::move(seconds)), workspace_(workspace) {}

std::vector<KernelChoice> SampleCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  const double seconds = seconds_(node.result(0).name(), device);
  if (seconds < 0) return {};
  KernelChoice choice;
  choice.kernel = "sample.work";
  choice.operands.resize(node.num_operands());
  choice.results.resize(node.num_results());
  choice.workspace = workspace_;
  choice.seconds = seconds;
  return {choice};
}

}  // namespace partita
