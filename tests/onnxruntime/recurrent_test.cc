// Compares LSTM, GRU and RNN with recorded figures (recurrent.py): by eval, by
// this host's kernels and by the reference of a plan, with constant weights and
// with variables.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "tests/onnxruntime/recorded_case.h"
#include "tests/onnxruntime/recorded_runs.h"

namespace partita {
namespace {

TEST(Recurrent, IsAsRecorded) {
  for (const RecordedCase& c : ReadCases("recurrent.txt")) {
    SCOPED_TRACE(c.name);
    const std::vector<HostTensor> inputs = c.InputTensors();
    for (bool as_variables : {false, true}) {
      SCOPED_TRACE(as_variables ? "variables" : "constants");
      ImportOptions options;
      options.weights_as_variables = as_variables;
      auto module = c.Model().Import(options);
      ASSERT_TRUE(module.ok()) << module.status();
      if (!as_variables) {
        const auto evaluated = Evaluate(module->main(), inputs);
        ASSERT_TRUE(evaluated.ok()) << evaluated.status();
        EXPECT_TRUE(AreAsRecorded(*evaluated, c)) << "by eval";
      }
      ExpectPlanIsRight(*std::move(module), inputs, c);
    }
  }
}

}  // namespace
}  // namespace partita
