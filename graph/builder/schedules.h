// Learning rates as functions of the step: f64 scalars of a u64 count that
// starts at 0. Also one that is chosen by its name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_SCHEDULES_H_
#define PARTITA_GRAPH_BUILDER_SCHEDULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/builder/graph_builder.h"

namespace partita {

// rate factor^floor(step / every)
Tensor StepDecay(Tensor step, double rate, int64_t every, double factor,
                 CallSite site = CallSite::current());
// rate factor^step
Tensor ExponentialDecay(Tensor step, double rate, double factor,
                        CallSite site = CallSite::current());
// From rate down to least along half a cosine over `steps`, then constant
// (Loshchilov and Hutter 2017).
Tensor CosineDecay(Tensor step, double rate, double least, int64_t steps,
                   CallSite site = CallSite::current());
// Linear warm-up: grows to `rate` over the first `steps`.
Tensor LinearWarmUp(Tensor step, Tensor rate, int64_t steps,
                    CallSite site = CallSite::current());

struct ScheduleOptions {
  std::string name = "constant";  // of ScheduleNames()
  double learning_rate = 0.01;    // the largest
  // The factor of the rate: for "step" every `steps` steps, for "exponential"
  // every step, for "cosine" at the end, after `steps` steps.
  double factor = 1;
  int64_t steps = 0;    // at least 1 for these
  int64_t warm_up = 0;  // steps of linear warm-up; 0: none
};

// "constant", "step", "exponential", "cosine".
std::vector<std::string> ScheduleNames();
// True if the schedule of this name reads ScheduleOptions::factor and steps.
bool TakesDecayFactor(absl::string_view name);
bool TakesDecaySteps(absl::string_view name);

// The learning rate, a scalar. `step` counts from 0. InvalidArgument if there
// is no such schedule.
absl::StatusOr<Tensor> LearningRate(GraphBuilder& b, Tensor step,
                                    const ScheduleOptions& options,
                                    CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_SCHEDULES_H_
