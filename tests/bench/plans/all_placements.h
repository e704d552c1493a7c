// The best placement of a small graph, by trying all, and how many fit.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_ALL_PLACEMENTS_H_
#define PARTITA_TESTS_BENCH_PLANS_ALL_PLACEMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/planner/pins.h"
#include "tests/planner/best_placement.h"
#include "tests/planner/random_problem.h"

namespace partita {

struct TriedPlacements {
  int64_t tried = 0;
  int64_t lowered = 0;                 // those that fit
  std::optional<double> best_seconds;  // predicted; nothing if none fits
  std::vector<Pin> best;               // a pin for each node
};

// Predicts the step of every placement, each by pins on every node.
TriedPlacements TryAllPlacements(const PlacementProblem& problem,
                                 NodePlaces places);

// As flags of partita compile: "v0=gpu:0 v1=gpu:0,gpu:1/split1".
std::string PinsText(const std::vector<Pin>& pins);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_ALL_PLACEMENTS_H_
