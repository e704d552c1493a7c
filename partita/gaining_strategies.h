// The strategies that more micro-batches may make the best.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_GAINING_STRATEGIES_H_
#define PARTITA_PARTITA_GAINING_STRATEGIES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "partita/compile.h"
#include "placement/planner/objective_choice.h"
#include "placement/planner/planner.h"

namespace partita {

// Narrows strategies down as the number of micro-batches grows. A strategy is
// dropped
//   1. if its busiest device computes for longer than the best step may take:
//      micro-batches overlap what waits, and save no work;
//   2. if its step is no faster than with the number before: with the number,
//      waits become shorter and launches more, so its step has one minimum.
// A strategy that was refused stays, since smaller micro-batches may fit. For
// the objective memory none is dropped.
class GainingStrategies {
 public:
  GainingStrategies(std::vector<Planner> planners,
                    const ObjectiveChoice& objective);

  const std::vector<Planner>& planners() const { return planners_; }
  // `tried`: the steps of these strategies with the next number of
  // micro-batches. `most_seconds`: what a better step may take.
  void Narrow(absl::Span<const Candidate> tried, double most_seconds);

 private:
  bool MayGain(const Candidate& tried, double most_seconds);

  const ObjectiveChoice objective_;
  std::vector<Planner> planners_;
  std::map<std::string, double> seconds_;  // by strategy: of the last step
};

}  // namespace partita

#endif  // PARTITA_PARTITA_GAINING_STRATEGIES_H_
