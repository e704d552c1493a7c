// The best placement of a small graph, by trying all, and how many fit.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_PLANNER_BEST_PLACEMENT_H_
#define PARTITA_TESTS_PLANNER_BEST_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "partita/compile.h"
#include "placement/planner/pins.h"
#include "tests/planner/random_problem.h"

namespace partita {

// Which placements of a node are tried.
enum class NodePlaces : uint8_t {
  kWhole,         // on each device
  kWholeOrSplit,  // also on all CPUs, or all GPUs, whole or split along
                  // dimension 0 or 1 of its results
};

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

// Predicted seconds of the step that the options lead to; nothing if refused.
std::optional<double> StepOf(const PlacementProblem& problem,
                             const CompileOptions& options);

}  // namespace partita

#endif  // PARTITA_TESTS_PLANNER_BEST_PLACEMENT_H_
