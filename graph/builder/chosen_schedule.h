// A learning-rate schedule that is chosen by its name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_CHOSEN_SCHEDULE_H_
#define PARTITA_GRAPH_BUILDER_CHOSEN_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/builder/graph_builder.h"

namespace partita {

struct ScheduleChoice {
  std::string name = "constant";  // of ScheduleNames()
  double learning_rate = 0.01;    // the largest
  // The factor of the rate: for "step" every `steps` steps, for "exponential"
  // every step, for "cosine" at the end, after `steps` steps.
  double factor = 1;
  int64_t steps = 1;
  int64_t warm_up = 0;  // steps of linear warm-up; 0: none
};

// "constant", "step", "exponential", "cosine" (schedules.h).
std::vector<std::string> ScheduleNames();
// True if the schedule of this name reads ScheduleChoice::factor and steps.
bool TakesDecayFactor(absl::string_view name);
bool TakesDecaySteps(absl::string_view name);

// The learning rate, a scalar. `step` counts from 0. InvalidArgument if there
// is no such schedule.
absl::StatusOr<Tensor> LearningRate(GraphBuilder& b, Tensor step,
                                    const ScheduleChoice& choice,
                                    CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_CHOSEN_SCHEDULE_H_
