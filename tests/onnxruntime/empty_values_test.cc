// Values without elements do not affect others, compared with recorded figures
// (empty_values.py): as inputs, constants in either order, and variables, by
// eval, by this host's kernels and by the reference of a plan.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "tests/onnxruntime/recorded_case.h"
#include "tests/onnxruntime/recorded_runs.h"

namespace partita {
namespace {

Module Imported(const RecordedCase& c, bool as_variables) {
  ImportOptions options;
  options.weights_as_variables = as_variables;
  auto module = c.Model().Import(options);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

void ExpectRight(const RecordedCase& c) {
  const std::vector<HostTensor> inputs = c.InputTensors();
  const Module module = Imported(c, /*as_variables=*/false);
  const auto evaluated = Evaluate(module.main(), inputs);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_TRUE(AreAsRecorded(*evaluated, c)) << "by eval";
  for (bool as_variables : {false, true}) {
    SCOPED_TRACE(as_variables ? "variables" : "constants");
    ExpectPlanIsRight(Imported(c, as_variables), inputs, c);
  }
}

TEST(EmptyValues, LeaveThoseBesideThemAlone) {
  for (RecordedCase& c : ReadCases("empty_values.txt")) {
    SCOPED_TRACE(c.name);
    ExpectRight(c);
    absl::c_reverse(c.constants);
    ExpectRight(c);
  }
}

}  // namespace
}  // namespace partita
