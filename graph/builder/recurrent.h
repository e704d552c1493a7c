// Recurrent networks, unrolled over the time steps of a sequence.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_RECURRENT_H_
#define PARTITA_GRAPH_BUILDER_RECURRENT_H_

#include "graph/builder/graph_builder.h"

namespace partita {

// Weights in PyTorch's layout, with g stacked gates of h units: g = 1, or 4 in
// the order input, forget, cell, output (Lstm), or 3 in the order reset,
// update, new (Gru).
struct RecurrentWeights {
  Tensor input;        // [g h, features]
  Tensor hidden;       // [g h, h]
  Tensor input_bias;   // [g h]
  Tensor hidden_bias;  // [g h]
};

struct RecurrentResult {
  Tensor outputs;  // [time, n, h]: the hidden state after each time step
  Tensor hidden;   // [n, h], the last
  Tensor cell;     // [n, h], the last; of Lstm only
};

// x: [time, n, features]; states: [n, h].
// h' = tanh(x W^T + b + h U^T + c)
RecurrentResult Rnn(Tensor x, Tensor hidden, const RecurrentWeights& weights,
                    CallSite site = CallSite::current());
// Hochreiter and Schmidhuber 1997.
RecurrentResult Lstm(Tensor x, Tensor hidden, Tensor cell,
                     const RecurrentWeights& weights,
                     CallSite site = CallSite::current());
// Cho et al. 2014, with the reset after the product, as in cuDNN and PyTorch.
RecurrentResult Gru(Tensor x, Tensor hidden, const RecurrentWeights& weights,
                    CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_RECURRENT_H_
