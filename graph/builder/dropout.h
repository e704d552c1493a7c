// Dropout. Its random numbers do not depend on placement or micro-batches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_DROPOUT_H_
#define PARTITA_GRAPH_BUILDER_DROPOUT_H_

#include <cstdint>

#include "graph/builder/graph_builder.h"

namespace partita {

// The u64 scalars that determine random numbers, besides the op's id and the
// element's index.
struct Randomness {
  Tensor seed;
  Tensor step;
};

// A variable `name`, u64, that counts the steps from 0: its value at the start
// of the step. Call once in a module: this function has its update.
Tensor CountSteps(GraphBuilder& b, const std::string& name = "step",
                  CallSite site = CallSite::current());

// A fixed seed, and a count of steps.
Randomness RandomOfSteps(GraphBuilder& b, uint64_t seed, Tensor step,
                         CallSite site = CallSite::current());

// Each element is 0 with this probability, and otherwise scaled up to keep the
// mean (Srivastava et al. 2014).
Tensor Dropout(Tensor x, double probability, const Randomness& random,
               CallSite site = CallSite::current());

// The same for whole channels of x [n, channels, ...] (Tompson et al. 2015).
Tensor Dropout2d(Tensor x, double probability, const Randomness& random,
                 CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_DROPOUT_H_
