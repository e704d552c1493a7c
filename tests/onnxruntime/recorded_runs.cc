// One step on virtual devices.
// SPDX-License-Identifier: Apache-2.0

#include "tests/onnxruntime/recorded_runs.h"

#include <utility>

#include "placement/machine/sample_machines.h"
#include "tests/end_to_end/virtual_steps.h"

namespace partita {

void ExpectPlanIsRight(Module module, const std::vector<HostTensor>& inputs,
                       const RecordedCase& expected,
                       const CompileOptions& options) {
  auto compiled =
      Compile(std::move(module), EqualCpus(1, int64_t{1} << 28), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  auto run = RunVirtually(std::move(compiled->plan), inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(AreAsRecorded(run->outputs, expected)) << "by kernels";
  EXPECT_TRUE(AreAsRecorded(run->reference, expected)) << "by reference";
}

}  // namespace partita
