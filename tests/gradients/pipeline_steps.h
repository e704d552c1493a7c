// A perceptron of equal layers, for tests of plans that train in stages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GRADIENTS_PIPELINE_STEPS_H_
#define PARTITA_TESTS_GRADIENTS_PIPELINE_STEPS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/host_tensor.h"

namespace partita {

struct PerceptronSizes {
  int layers = 4;
  int64_t width = 16;
  int64_t batch = 16;
};

// Layers of `width` by `width`, with relu, learn a random layer's results with
// momentum; the output is the loss.
Module PerceptronTraining(const PerceptronSizes& sizes);

// Inputs and targets of a step.
std::vector<HostTensor> PerceptronBatch(const PerceptronSizes& sizes,
                                        uint64_t seed);

}  // namespace partita

#endif  // PARTITA_TESTS_GRADIENTS_PIPELINE_STEPS_H_
