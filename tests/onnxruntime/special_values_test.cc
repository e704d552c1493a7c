// Compares comparisons, selections and non-linear functions of NaN, infinities,
// zeros of both signs and denormals with recorded figures (special_values.py):
// by eval, by this host's kernels and by the reference of a plan, alone and
// between other nodes.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "tests/onnxruntime/recorded_case.h"
#include "tests/onnxruntime/recorded_runs.h"

namespace partita {
namespace {

std::vector<RecordedCase> Cases() { return ReadCases("special_values.txt"); }

HostTensor One(DType dtype) {
  HostTensor one(TensorType{dtype, {}, {}});
  SetFromDouble(one, 0, 1);
  return one;
}

TEST(SpecialValues, AloneAreAsRecorded) {
  for (const RecordedCase& c : Cases()) {
    SCOPED_TRACE(c.name);
    auto module = c.Model().Import();
    ASSERT_TRUE(module.ok()) << module.status();
    const auto inputs = c.InputTensors();
    const auto evaluated = Evaluate(module->main(), inputs);
    ASSERT_TRUE(evaluated.ok()) << evaluated.status();
    EXPECT_TRUE(AreAsRecorded(*evaluated, c)) << "by eval";
    ExpectPlanIsRight(*std::move(module), inputs, c);
  }
}

TEST(SpecialValues, BetweenOtherNodesAreAsRecorded) {
  for (const RecordedCase& c : Cases()) {
    if (c.inputs[0].second.type().dtype != DType::kF32) continue;
    SCOPED_TRACE(c.name);
    auto module = c.ModelInChain().Import();
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<HostTensor> inputs = c.InputTensors();
    inputs.push_back(One(inputs[0].type().dtype));
    ExpectPlanIsRight(*std::move(module), inputs, c);
  }
}

// One node with one f32 input.
bool IsFunctionOfFloats(const RecordedCase& c) {
  return c.nodes.size() == 1 && c.inputs.size() == 1 &&
         c.inputs[0].second.type().rank() == 1 &&
         c.inputs[0].second.type().dtype == DType::kF32;
}

// A sum of products is never -0, so 0 replaces it, in expected values too.
void MakeZerosPositive(RecordedCase& c) {
  HostTensor& x = c.inputs[0].second;
  HostTensor& y = c.outputs[0].second;
  int64_t zero = 0;
  const auto is_zero = [&](int64_t i, bool negative) {
    const double value = GetAsDouble(x, i);
    return value == 0 && std::signbit(value) == negative;
  };
  while (!is_zero(zero, /*negative=*/false)) ++zero;
  for (int64_t i = 0; i < x.type().num_elements(); ++i) {
    if (!is_zero(i, /*negative=*/true)) continue;
    SetFromDouble(x, i, 0);
    SetFromDouble(y, i, GetAsDouble(y, zero));
  }
}

// x as a column times a row of ones, the node, and one column of its result.
void PutBehindMatMul(RecordedCase& c) {
  constexpr int64_t kColumns = 16;
  const std::vector<float> ones(kColumns, 1);
  c.constants.emplace_back("ones", HostTensor::Of<float>({1, kColumns}, ones));
  c.constants.emplace_back("as_column", HostTensor::Of<int64_t>({2}, {-1, 1}));
  c.constants.emplace_back("seventh", HostTensor::Of<int64_t>({}, {7}));
  RecordedNode node = std::move(c.nodes[0]);
  node.inputs[0] = "product";
  node.outputs[0] = "rows";
  c.nodes = {{"Reshape", {"x", "as_column"}, {"column"}, {}},
             {"MatMul", {"column", "ones"}, {"product"}, {}},
             std::move(node),
             {"Gather", {"rows", "seventh"}, {"y"}, {"axis i 1"}}};
}

// Without kernels that violate IEEE 754 (docs/internals/numerics.md).
TEST(SpecialValues, AfterAMatMulAreAsRecorded) {
  CompileOptions options;
  options.ieee = true;
  int functions = 0;
  for (RecordedCase& c : Cases()) {
    if (!IsFunctionOfFloats(c)) continue;
    SCOPED_TRACE(c.name);
    ++functions;
    MakeZerosPositive(c);
    PutBehindMatMul(c);
    auto module = c.Model().Import();
    ASSERT_TRUE(module.ok()) << module.status();
    ExpectPlanIsRight(*std::move(module), c.InputTensors(), c, options);
  }
  EXPECT_GT(functions, 40);
}

}  // namespace
}  // namespace partita
