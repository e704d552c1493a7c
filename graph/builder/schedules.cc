// Schedules as graphs.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/schedules.h"

#include <iterator>
#include <numbers>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/ops.h"

namespace partita {
namespace {

// The step as f64; invalid if the schedule's length is not positive.
Tensor Counted(Tensor step, int64_t length) {
  if (!step.valid()) return {};
  if (length >= 1) return Cast(step, DType::kF64);
  step.builder()->Fail(absl::StrCat("schedule: found a length of ", length,
                                    " steps; expected 1 or more; correct it"));
  return {};
}

struct NamedSchedule {
  const char* name;
  bool takes_factor;
  bool takes_steps;
  Tensor (*rate)(Tensor step, const ScheduleOptions& options);
};

constexpr NamedSchedule kSchedules[] = {
    {"constant", false, false,
     [](Tensor step, const ScheduleOptions& options) {
       return step.builder()->Scalar(DType::kF64, options.learning_rate);
     }},
    {"step", true, true,
     [](Tensor step, const ScheduleOptions& options) {
       return StepDecay(step, options.learning_rate, options.steps,
                        options.factor);
     }},
    {"exponential", true, false,
     [](Tensor step, const ScheduleOptions& options) {
       return ExponentialDecay(step, options.learning_rate, options.factor);
     }},
    {"cosine", true, true,
     [](Tensor step, const ScheduleOptions& options) {
       return CosineDecay(step, options.learning_rate,
                          options.learning_rate * options.factor,
                          options.steps);
     }},
};

const NamedSchedule* Find(absl::string_view name) {
  const auto* found = absl::c_find_if(
      kSchedules, [&](const NamedSchedule& one) { return one.name == name; });
  return found == std::end(kSchedules) ? nullptr : found;
}

}  // namespace

Tensor StepDecay(Tensor step, double rate, int64_t every, double factor,
                 CallSite site) {
  const GraphBuilder::At caller(step.builder(), site);
  const Tensor count = Counted(step, every);
  const Tensor drops = Floor(count / static_cast<double>(every));
  return rate * Pow(factor, drops);
}

Tensor ExponentialDecay(Tensor step, double rate, double factor,
                        CallSite site) {
  const GraphBuilder::At caller(step.builder(), site);
  return rate * Pow(factor, Counted(step, 1));
}

Tensor CosineDecay(Tensor step, double rate, double least, int64_t steps,
                   CallSite site) {
  const GraphBuilder::At caller(step.builder(), site);
  const double length = static_cast<double>(steps);
  const Tensor at = Min(Counted(step, steps), length);
  const Tensor fraction = (Cos(at * (std::numbers::pi / length)) + 1) * 0.5;
  return fraction * (rate - least) + least;
}

Tensor LinearWarmUp(Tensor step, Tensor rate, int64_t steps, CallSite site) {
  const GraphBuilder::At caller(step.builder(), site);
  const Tensor fraction =
      (Counted(step, steps) + 1) / static_cast<double>(steps);
  return rate * Min(fraction, 1);
}

std::vector<std::string> ScheduleNames() {
  std::vector<std::string> names;
  for (const NamedSchedule& one : kSchedules) names.push_back(one.name);
  return names;
}

bool TakesDecayFactor(absl::string_view name) {
  const NamedSchedule* found = Find(name);
  return found != nullptr && found->takes_factor;
}

bool TakesDecaySteps(absl::string_view name) {
  const NamedSchedule* found = Find(name);
  return found != nullptr && found->takes_steps;
}

absl::StatusOr<Tensor> LearningRate(GraphBuilder& b, Tensor step,
                                    const ScheduleOptions& options,
                                    CallSite site) {
  const NamedSchedule* found = Find(options.name);
  if (found == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("schedule: found ", options.name, "; expected one of ",
                     absl::StrJoin(ScheduleNames(), ", ")));
  }
  const GraphBuilder::At caller(&b, site);
  if (!step.valid()) return Tensor();
  const Tensor rate = found->rate(step, options);
  return options.warm_up == 0 ? rate
                              : LinearWarmUp(step, rate, options.warm_up);
}

}  // namespace partita
