// Every op's samples, and those of elementwise ops.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/testing/op_samples.h"

#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

bool IsUnsigned(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kU64 || dtype == DType::kBool;
}

bool Accepts(const OpSample& sample) {
  LiteralPool literals;
  Graph graph("sample", &literals);
  return AddSample(sample, graph).ok();
}

// Broadcast operands of one type, for each type that the op accepts.
void AddElementwise(const OpDef& op, std::vector<OpSample>& samples) {
  constexpr DType kTypes[] = {
      DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI64,
      DType::kI32, DType::kI8,  DType::kU8,  DType::kU64,  DType::kBool};
  const Shape kDims[] = {{4, 3, 5}, {3, 1}, {4, 1, 5}};
  for (DType dtype : kTypes) {
    OpSample sample{.op = &op};
    for (int n = 0; n < MinOperands(op); ++n) {
      sample.operands.push_back({dtype, kDims[n],
                                 IsUnsigned(dtype) ? 0.0 : -3.0,
                                 dtype == DType::kBool ? 1.0 : 3.0});
    }
    if (Accepts(sample)) samples.push_back(std::move(sample));
  }
}

}  // namespace

std::vector<OpSample> OpSamples() {
  std::vector<OpSample> samples;
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef& op = *kOpTable[i];
    if (op.traits.elementwise) AddElementwise(op, samples);
    if (op.samples == nullptr) continue;
    for (OpSample& sample : op.samples()) {
      sample.op = &op;
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

HostTensor RandomTensor(const SampleOperand& operand, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(operand.low, operand.high);
  const bool whole = !IsFloat(operand.dtype);
  if (whole) {
    uniform = std::uniform_real_distribution<double>(operand.low - 0.49,
                                                     operand.high + 0.49);
  }
  HostTensor tensor({operand.dtype, operand.dims, {}});
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    const double value = uniform(random);
    SetFromDouble(tensor, i, whole ? std::nearbyint(value) : value);
  }
  return tensor;
}

absl::StatusOr<NodeId> AddSample(const OpSample& sample, Graph& graph) {
  NodeSpec spec;
  spec.op = sample.op;
  spec.attributes = sample.attributes;
  for (const SampleOperand& operand : sample.operands) {
    spec.operands.push_back(
        graph.AddInput(absl::StrCat("x", spec.operands.size()),
                       {operand.dtype, operand.dims, {}}));
  }
  return graph.AddNode(std::move(spec));
}

std::string ToString(const OpSample& sample) {
  std::string text = absl::StrCat(sample.op->name, "(");
  for (const SampleOperand& operand : sample.operands) {
    absl::StrAppend(&text, text.back() == '(' ? "" : ", ",
                    TensorType{operand.dtype, operand.dims, {}}.ToString());
  }
  return text + ")";
}

}  // namespace partita
