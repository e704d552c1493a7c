// Recorded cases through plans.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_ONNXRUNTIME_RECORDED_RUNS_H_
#define PARTITA_TESTS_ONNXRUNTIME_RECORDED_RUNS_H_

#include <vector>

#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "partita/compile.h"
#include "tests/onnxruntime/recorded_case.h"

namespace partita {

// Compiles for one CPU; fails the test unless a step with this host's kernels
// and one with the plan's reference have the recorded outputs.
void ExpectPlanIsRight(Module module, const std::vector<HostTensor>& inputs,
                       const RecordedCase& expected,
                       const CompileOptions& options = {});

}  // namespace partita

#endif  // PARTITA_TESTS_ONNXRUNTIME_RECORDED_RUNS_H_
