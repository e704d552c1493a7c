// Learning rates as functions of the step: f64 scalars of a u64 count that
// starts at 0.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_SCHEDULES_H_
#define PARTITA_GRAPH_BUILDER_SCHEDULES_H_

#include <cstdint>

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

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_SCHEDULES_H_
