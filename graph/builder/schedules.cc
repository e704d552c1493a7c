// Schedules as graphs.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/schedules.h"

#include <numbers>

#include "absl/strings/str_cat.h"
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

}  // namespace partita
