// The question about time that lowering asks: which launch order is fastest?
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_STEP_PREDICTOR_H_
#define PARTITA_PLACEMENT_LOWER_STEP_PREDICTOR_H_

#include <functional>
#include <optional>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// All times in seconds.
struct PredictedStep {
  double step_seconds = 0;  // what the launch order should make small
  // From start to end, of all commands except records and waits, in launch
  // order.
  std::vector<double> command_seconds;
};

// Predicts a step of an entry without addresses, whose devices are those of
// the machine, in its order. Nothing if it cannot be predicted, as where a
// link is missing. Simulation answers (placement/simulate/simulate.h).
using StepPredictor = std::function<std::optional<PredictedStep>(Entry entry)>;

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_STEP_PREDICTOR_H_
