// Plans whose predicted step is compared with the measured one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_PREDICTION_H_
#define PARTITA_TESTS_BENCH_PLANS_PREDICTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "tests/bench/plans/benchmark_models.h"
#include "tests/bench/plans/row_bench.h"

namespace partita {

struct PredictionCase {
  std::string key() const;  // "resnet50/data"

  BenchmarkModel model;
  std::string strategy;  // "split" is a pin that splits every node
  CompileOptions options;
};

// Every benchmark model by single, list, pipeline, data and split.
std::vector<PredictionCase> PredictionCases();

// This host as two equal CPU devices, as many as a plan keeps busy.
// FailedPrecondition if it has one thread.
absl::StatusOr<Machine> HalvesOfHost();

// The kernels of all benchmark models on `machine`, measured as partita profile
// does. A file that is there is read, and nothing is measured.
absl::StatusOr<Machine> WithProfile(const Machine& machine,
                                    const std::string& file,
                                    double budget_seconds);

struct StepRounds {
  int rounds = 5;  // each in a session of its own
  int steps = 20;  // measured in each, after some that warm up
};

// The plan's devices, the median step of each round (their median, the least
// and the most), and what rooflines and the profile predict. `profiled` is
// `plain` with a profile.
inline const RowCells kPredictionColumns = {
    "model",    "strategy", "host",        "devices",    "measured us",
    "least us", "most us",  "roofline us", "profile us", "refusal",
};
absl::StatusOr<RowCells> PredictionRow(const PredictionCase& plan_case,
                                       const Machine& plain,
                                       const Machine& profiled,
                                       const StepRounds& rounds);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_PREDICTION_H_
