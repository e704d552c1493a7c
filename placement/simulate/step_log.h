// When commands of the first step ran, and when each step ended.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_STEP_LOG_H_
#define PARTITA_PLACEMENT_SIMULATE_STEP_LOG_H_

#include <cstddef>
#include <vector>

#include "graph/id_vector.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/plan.h"

namespace partita {

class StepLog {
 public:
  // `depth` steps overlap. `commands`: their number in each step.
  StepLog(int depth, size_t commands);

  // The number of steps that show the time between two.
  int steps() const { return static_cast<int>(left_.size()); }
  // False if the step starts only when another one has ended, `depth` earlier.
  bool MayStart(int step) const {
    return step < depth_ || left_[step - depth_] == 0;
  }
  bool have_all_ended() const;

  void Start(int step, CommandId command, double at, CommandId cause);
  // True if it was the last command of the step.
  bool End(int step, CommandId command, double at);

  // Without Simulation::busy. Call it last.
  Simulation Take() &&;

 private:
  const int depth_;
  IdVector<CommandId, SimulatedCommand> first_step_;
  std::vector<int> left_;     // by step: commands that have not ended
  std::vector<double> ends_;  // by step
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_STEP_LOG_H_
