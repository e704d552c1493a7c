// The best placement of a small graph, by trying all.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_PLANNER_BEST_PLACEMENT_H_
#define PARTITA_TESTS_PLANNER_BEST_PLACEMENT_H_

#include <optional>

#include "partita/compile.h"
#include "tests/planner/random_problem.h"

namespace partita {

// Which placements of a node are tried.
enum class NodePlaces : uint8_t {
  kWhole,         // on each device
  kWholeOrSplit,  // also on all CPUs, or all GPUs, whole or split along
                  // dimension 0 or 1 of its results
};

// Predicted seconds of the best step over all placements, each by pins on every
// node; nothing if none fits.
std::optional<double> BestStep(const PlacementProblem& problem,
                               NodePlaces places);

// Predicted seconds of the step that the options lead to; nothing if refused.
std::optional<double> StepOf(const PlacementProblem& problem,
                             const CompileOptions& options);

}  // namespace partita

#endif  // PARTITA_TESTS_PLANNER_BEST_PLACEMENT_H_
