// Compares the standard's ops for transformers with recorded figures
// (transformers.py): by eval, by this host's kernels and by the reference of a
// plan.
// SPDX-License-Identifier: Apache-2.0

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "tests/onnxruntime/recorded_case.h"
#include "tests/onnxruntime/recorded_runs.h"

namespace partita {
namespace {

TEST(Transformers, TheirOpsAreAsRecorded) {
  std::set<std::string> ops;
  for (const RecordedCase& c : ReadCases("transformers.txt")) {
    SCOPED_TRACE(c.name);
    for (const RecordedNode& node : c.nodes) ops.insert(node.op);
    auto module = c.Model().Import();
    ASSERT_TRUE(module.ok()) << module.status();
    const auto inputs = c.InputTensors();
    const auto evaluated = Evaluate(module->main(), inputs);
    ASSERT_TRUE(evaluated.ok()) << evaluated.status();
    EXPECT_TRUE(AreAsRecorded(*evaluated, c)) << "by eval";
    ExpectPlanIsRight(*std::move(module), inputs, c);
  }
  EXPECT_EQ(ops.size(), 9u);
}

}  // namespace
}  // namespace partita
