// Random tensors, equal on every machine.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_RANDOM_TENSOR_H_
#define PARTITA_GRAPH_BUILDER_RANDOM_TENSOR_H_

#include <cstdint>

#include "graph/host_tensor.h"

namespace partita {

// Number `counter` of the sequence `seed`: a hash of both, without state.
uint64_t RandomWord(uint64_t seed, uint64_t counter);
// The same as a number in [0, 1), with 53 random bits.
double RandomUnit(uint64_t seed, uint64_t counter);

// Element i is number i of the sequence, scaled to [low, high): floats rounded
// once, integers rounded down and bools true for odd words. Row-major.
HostTensor RandomTensor(const TensorType& type, uint64_t seed, double low,
                        double high);

// Weights by He et al. 2015, uniform: variance 2 / fan_in.
HostTensor HeWeights(Shape dims, int64_t fan_in, uint64_t seed);

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_RANDOM_TENSOR_H_
