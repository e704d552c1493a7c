// Exports every op and reads it back: the same numbers, or a refusal that names
// the cause.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/onnx/export/node_export.h"
#include "graph/onnx/testing/reimport.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

Module ModuleOf(const OpSample& sample) {
  Module module;
  Graph& graph = module.AddFunction("f");
  const absl::StatusOr<NodeId> node = AddSample(sample, graph);
  EXPECT_TRUE(node.ok()) << node.status();
  const ValueIds& results = graph.node(*node).results;
  std::vector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i) {
    names.push_back(absl::StrCat("y", i));
  }
  graph.SetOutputs({results.begin(), results.end()}, names);
  return module;
}

std::vector<HostTensor> RandomInputs(const OpSample& sample) {
  std::vector<HostTensor> inputs;
  for (const SampleOperand& operand : sample.operands) {
    inputs.push_back(
        RandomTensor(operand, static_cast<uint32_t>(inputs.size() + 1)));
  }
  return inputs;
}

// Expanded ops, and attributes that ONNX keeps as f32, are rounded differently.
void ExpectClose(const HostTensor& actual, const HostTensor& expected) {
  ASSERT_EQ(actual.type(), expected.type());
  const double step = actual.type().dtype == DType::kBF16  ? 1e-2
                      : actual.type().dtype == DType::kF16 ? 2e-3
                                                           : 1e-6;
  for (int64_t i = 0; i < actual.type().num_elements(); ++i) {
    const double a = GetAsDouble(actual, i);
    const double e = GetAsDouble(expected, i);
    if (std::isnan(a) && std::isnan(e)) continue;
    ASSERT_NEAR(a, e, step * std::max(1.0, std::abs(e))) << "element " << i;
  }
}

void ExpectSameNumbers(const OpSample& sample, const Module& module,
                       const Module& again) {
  const std::vector<HostTensor> inputs = RandomInputs(sample);
  const auto expected = Evaluate(module.main(), inputs);
  const auto actual = Evaluate(again.main(), inputs);
  ASSERT_EQ(expected.ok(), actual.ok()) << actual.status();
  if (!expected.ok()) return;  // random indices may be out of range
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t i = 0; i < actual->size(); ++i) {
    ExpectClose((*actual)[i], (*expected)[i]);
  }
}

TEST(ExportOpsTest, EverySampleComesBackOrIsRefused) {
  int came_back = 0;
  std::map<std::string, std::string> refused;  // by op
  for (const OpSample& sample : OpSamples()) {
    SCOPED_TRACE(ToString(sample));
    const Module module = ModuleOf(sample);
    const absl::StatusOr<Module> again = Reimported(module, "f");
    if (again.ok()) {
      ++came_back;
      ExpectSameNumbers(sample, module, *again);
      continue;
    }
    EXPECT_EQ(again.status().code(), absl::StatusCode::kUnimplemented)
        << again.status();
    const std::string message(again.status().message());
    const std::string why = message.substr(message.rfind("found"));
    // ONNX has bf16 for few ops.
    if (!absl::StartsWith(why, "found bf16")) refused[sample.op->name] = why;
  }
  EXPECT_GE(came_back, 200);
  std::string text;
  for (const auto& [name, why] : refused) {
    absl::StrAppend(&text, name, ": ", why, "\n");
  }
  const std::string no_op =
      ": found an op that is not in opset 17 of ONNX; expected one that is\n";
  EXPECT_EQ(
      text,
      absl::StrCat(
          "accumulate", no_op, "attention_gradient", no_op, "avg_pool_gradient",
          no_op, "bit_cast", no_op, "bitwise_and", no_op, "bitwise_not", no_op,
          "bitwise_or", no_op, "bitwise_xor", no_op,
          "celu: found f16 for input 0 of Celu; expected f32\n"
          "conv: found i32 for input 0 of Conv; expected f16, f32 or f64\n"
          "conv_weight_gradient",
          no_op, "cross_moments", no_op, "cumprod", no_op,
          "gather_elements: found from_end = false; expected true\n"
          "gather_gradient",
          no_op, "gelu_slope", no_op,
          "grid_sample: found rank 5; expected images, of rank 4\n"
          "gru",
          no_op, "gru_gradient", no_op,
          "iota: found 7 elements from 18446744073709551613 by "
          "9223372036854775807; expected a range that u64 can end\n"
          "is_inf: found f16 for input 0 of IsInf; expected f32 or f64\n"
          "layer_norm_gradient",
          no_op, "layer_norm_scale_gradient", no_op, "lstm", no_op,
          "lstm_gradient", no_op,
          "max_pool: found i32 for input 0 of MaxPool; expected f16, f32, f64, "
          "i8 or u8\n"
          "max_pool_gradient",
          no_op, "max_pool_indices", no_op,
          "mod: found floats with the sign of the divisor; expected fmod = "
          "true, or integers\n"
          "moments",
          no_op,
          "neg: found u64 for input 0 of Neg; expected bf16, f16, f32, f64, "
          "i16, i32, i64 or i8\n"
          "pow: found u64 for input 0 of Pow; expected bf16, f16, f32, f64, "
          "i32 or i64\n"
          "prelu: found u8 for input 0 of PRelu; expected bf16, f16, f32, f64, "
          "i32, i64, u32 or u64\n"
          "random_uniform",
          no_op,
          "relu: found u64 for input 0 of Relu; expected bf16, f16, f32, f64, "
          "i16, i32, i64 or i8\n"
          "resize_gradient",
          no_op, "rnn", no_op, "rnn_gradient", no_op,
          "scatter_nd: found reduction \"max\"; expected \"none\", \"add\" "
          "or \"mul\"\n"));
}

// A new op needs a row, or a place in this list of ops that ONNX lacks.
TEST(ExportOpsTest, EveryOpHasARowOrAReason) {
  const std::set<const OpDef*> missing = {
      // Initializers.
      &kConstant, &kVariable,
      // Inserted by the compiler.
      &kAccumulate, &kBucket, &kCopy, &kFused, &kReorder,
      // For training only.
      &kAttentionGradient, &kAvgPoolGradient, &kConvWeightGradient,
      &kCrossMoments, &kGruGradient, &kLayerNormGradient,
      &kLayerNormScaleGradient, &kLstmGradient, &kRnnGradient, &kGatherGradient,
      &kGeluSlope, &kMaxPoolGradient, &kMoments, &kRandomUniform,
      &kResizeGradient,
      // ONNX's include the product of the inputs.
      &kGru, &kLstm, &kRnn,
      // In opset 18.
      &kBitwiseAnd, &kBitwiseNot, &kBitwiseOr, &kBitwiseXor,
      // In opset 26.
      &kBitCast, &kCumprod,
      // A second result of another node.
      &kMaxPoolIndices};
  for (int i = 0; i < kOpTableSize; ++i) {
    EXPECT_EQ(FindExport(*kOpTable[i]) == nullptr,
              missing.contains(kOpTable[i]))
        << kOpTable[i]->name;
  }
}

}  // namespace
}  // namespace partita
