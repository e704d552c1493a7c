// What compares, selects or bends, over NaN, infinities, zeros of both signs
// and denormals, against recorded figures (special_values.py): by eval, by this
// host's kernels and by the reference of a plan, alone and between other nodes.
// SPDX-License-Identifier: Apache-2.0

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
    SCOPED_TRACE(c.name);
    auto module = c.ModelInChain().Import();
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<HostTensor> inputs = c.InputTensors();
    inputs.push_back(One(inputs[0].type().dtype));
    ExpectPlanIsRight(*std::move(module), inputs, c);
  }
}

}  // namespace
}  // namespace partita
