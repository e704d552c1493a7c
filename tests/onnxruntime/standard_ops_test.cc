// Compares ops of the standard that become several of ours, and those without
// arithmetic, with recorded figures (standard_ops.py): by eval, by this host's
// kernels and by the reference of a plan.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "tests/onnxruntime/recorded_case.h"
#include "tests/onnxruntime/recorded_runs.h"

namespace partita {
namespace {

TEST(StandardOps, AreAsRecorded) {
  const std::vector<RecordedCase> cases = ReadCases("standard_ops.txt");
  EXPECT_GT(cases.size(), 200u);
  for (const RecordedCase& c : cases) {
    SCOPED_TRACE(c.name);
    auto module = c.Model().Import();
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) continue;
    const auto inputs = c.InputTensors();
    const auto evaluated = Evaluate(module->main(), inputs);
    EXPECT_TRUE(evaluated.ok()) << evaluated.status();
    if (!evaluated.ok()) continue;
    EXPECT_TRUE(AreAsRecorded(*evaluated, c)) << "by eval";
    ExpectPlanIsRight(*std::move(module), inputs, c);
  }
}

}  // namespace
}  // namespace partita
