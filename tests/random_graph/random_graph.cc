// Inputs, steps, outputs.
// SPDX-License-Identifier: Apache-2.0

#include "tests/random_graph/random_graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/random_tensor.h"
#include "tests/random_graph/graph_sketch.h"

namespace partita {
namespace {

constexpr Step kSteps[] = {
    ElementwiseStep, ElementwiseStep, ElementwiseStep, BroadcastStep,
    BroadcastStep,   BroadcastStep,   NoEffectStep,    ActivationStep,
    ResidualStep,    ResidualStep,    DiscreteStep,    DiscreteStep,
    MatMulStep,      MatMulStep,      ConvStep,        ConvStep,
    ConvStep,        PoolStep,        BatchNormStep,   ReduceStep,
    SoftmaxStep,     ReshapeStep,     TransposeStep,   SliceStep,
    ConcatStep,      SplitStep,       PadStep,         GatherStep,
    ExpandStep,      TileStep,        ConstantStep,    ShapeStep,
};

// An image, a matrix, or any shape.
TensorType InputType(GraphSketch& s) {
  Shape dims;
  const int64_t rank = s.OneOf<int64_t>({4, 4, 2, 2, 3, 1, 0});
  for (int64_t i = 0; i < rank; ++i) dims.push_back(s.Extent());
  DType dtype = DType::kF32;
  if (s.options().discrete) {
    dtype = s.OneOf({DType::kF32, DType::kF32, DType::kI32, DType::kBool});
  }
  return {dtype, dims, {}};
}

void AddInputs(GraphSketch& s) {
  const int64_t count = s.Between(1, s.options().max_inputs);
  for (int64_t i = 0; i < count; ++i) {
    TensorType type = InputType(s);
    if (i == 0) type.dtype = DType::kF32;  // every step finds something
    s.Offer(s.graph().AddInput(absl::StrCat("x", i), std::move(type)));
  }
}

// The last values without a reader, and sometimes one with readers.
void ChooseOutputs(GraphSketch& s) {
  std::vector<ValueId> outputs;
  const int64_t limit = s.options().dead_nodes
                            ? s.Between(1, s.options().max_outputs)
                            : static_cast<int64_t>(s.values().size());
  for (size_t i = s.values().size(); i-- > 0;) {
    const ValueId value = s.values()[i];
    if (static_cast<int64_t>(outputs.size()) == limit) break;
    const bool unread = s.graph().value(value).uses.empty();
    const bool is_input = !s.graph().value(value).defining_node.valid();
    if ((unread && !is_input) || s.OneIn(8)) outputs.push_back(value);
  }
  if (outputs.empty()) outputs.push_back(s.values().back());
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    names.push_back(absl::StrCat("y", i));
  }
  s.graph().SetOutputs(std::move(outputs), std::move(names));
}

}  // namespace

Module RandomGraph(uint64_t seed, const RandomGraphOptions& options) {
  Module module;
  GraphSketch sketch(&module.AddFunction("random"), seed, options);
  AddInputs(sketch);
  for (int i = 0; i < options.steps; ++i) {
    kSteps[sketch.Below(std::size(kSteps))](sketch);
  }
  ChooseOutputs(sketch);
  return module;
}

std::vector<HostTensor> RandomInputs(const Graph& graph, uint64_t seed) {
  std::vector<HostTensor> inputs;
  for (ValueId id : graph.inputs()) {
    const TensorType& type = graph.type(id);
    const double reach = IsFloat(type.dtype) ? 1 : 4;
    const double low = IsUnsignedInteger(type.dtype) ? 0 : -reach;
    inputs.push_back(
        RandomTensor(type, RandomWord(seed, inputs.size()), low, reach));
  }
  return inputs;
}

}  // namespace partita
