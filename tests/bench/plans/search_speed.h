// How many drafts a second the search estimates.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_SEARCH_SPEED_H_
#define PARTITA_TESTS_BENCH_PLANS_SEARCH_SPEED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/plans/row_bench.h"

namespace partita {

enum class SpeedModel : uint8_t {
  kRandom,    // a random graph of exactly so many computing nodes
  kLayers,    // an inference, at least so many nodes
  kTraining,  // a training step, at least so many nodes
};

struct SpeedCase {
  std::string key() const;  // "layers/1000_nodes/8_cpus"

  SpeedModel model = SpeedModel::kLayers;
  int nodes = 0;  // the row has the number of those that compute
  int devices = 0;
};

// Series of sizes and of numbers of devices.
std::vector<SpeedCase> SpeedCases();

// The draft has equal stages on all devices; its moves are those of one round
// of a climb with the default number of evaluations. Rounds are repeated for
// `least_seconds`. The first column of times is what a search does once: its
// tables and its first estimate.
inline const RowCells kSpeedColumns = {
    "model",  "computing nodes", "devices",       "begin s",
    "rounds", "evaluations",     "evaluations/s", "host",
};
absl::StatusOr<RowCells> SpeedRow(const SpeedCase& speed_case,
                                  double least_seconds = 2);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_SEARCH_SPEED_H_
