// Steps of the MNIST network's training, for tests of plans that train.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GRADIENTS_MNIST_STEPS_H_
#define PARTITA_TESTS_GRADIENTS_MNIST_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "partita/partita.h"

namespace partita {

inline constexpr int64_t kMnistBatch = 8;

Module MnistModule(double dropout, int64_t batch = kMnistBatch,
                   DType precision = DType::kF32);

// Noise with a bright bar whose position depends on the label: a batch that a
// network can learn.
std::vector<HostTensor> MnistBatch(uint64_t seed, int64_t batch = kMnistBatch);

// Four steps of MnistModule(0.2, batch). The plan is proved when the session is
// created. Every step has the bits of its reference and, except for rounding,
// the loss and the weights of eval, random numbers included. `after_step` may
// check more.
void ExpectTrainsAsEvalDoes(
    Session& session,
    absl::FunctionRef<void(Session&)> after_step = [](Session&) {});

}  // namespace partita

#endif  // PARTITA_TESTS_GRADIENTS_MNIST_STEPS_H_
