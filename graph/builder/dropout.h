// Dropout, whose random numbers no placement and no micro-batch changes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_DROPOUT_H_
#define PARTITA_GRAPH_BUILDER_DROPOUT_H_

#include <cstdint>

#include "graph/builder/graph_builder.h"

namespace partita {

// What random numbers are a function of, beside the op's id and the element's
// index: u64 scalars.
struct Randomness {
  Tensor seed;
  Tensor step;
};

// A variable `name`, u64, that counts the steps from 0: the count as this step
// finds it. To be asked for once in a module: its update is this function's.
Tensor CountSteps(GraphBuilder& b, const std::string& name = "step",
                  CallSite site = CallSite::current());

// A fixed seed, and a count of steps.
Randomness RandomOfSteps(GraphBuilder& b, uint64_t seed, Tensor step,
                         CallSite site = CallSite::current());

// Each element is 0 with this probability, and scaled up otherwise, so that the
// mean stays (Srivastava et al. 2014).
Tensor Dropout(Tensor x, double probability, const Randomness& random,
               CallSite site = CallSite::current());

// The same for whole channels of x [n, channels, ...] (Tompson et al. 2015).
Tensor Dropout2d(Tensor x, double probability, const Randomness& random,
                 CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_DROPOUT_H_
