// Batches, sessions and the comparison with eval.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gradients/mnist_steps.h"

#include <utility>

#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

// Ten times the observed distance after four steps: f32 is summed in the order
// of its kernels, by eval in f64.
constexpr double kRoundings = 80;

}  // namespace

Module MnistModule(double dropout, int64_t batch, DType precision) {
  auto module = MnistTraining({.batch = batch,
                               .update = {.optimizer = {.momentum = 0.5},
                                          .schedule = {.learning_rate = 0.05},
                                          .precision = precision},
                               .dropout = dropout});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::vector<HostTensor> MnistBatch(uint64_t seed, int64_t batch) {
  HostTensor images =
      RandomTensor({DType::kF32, {batch, 1, 28, 28}, {}}, seed, 0, 0.3);
  HostTensor labels({DType::kI64, {batch}, {}});
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t label = static_cast<int64_t>(RandomWord(seed, 1000 + n) % 10);
    labels.data<int64_t>()[n] = label;
    for (int64_t i = 0; i < 28 * 3; ++i) {
      images.data<float>()[n * 784 + label * 56 + 28 * 3 + i] += 1;
    }
  }
  std::vector<HostTensor> inputs;
  inputs.push_back(std::move(images));
  inputs.push_back(std::move(labels));
  return inputs;
}

void ExpectTrainsAsEvalDoes(Session& session,
                            absl::FunctionRef<void(Session&)> after_step) {
  const int64_t batch = session.input_type(0).dims[0];
  const Module module = MnistModule(0.2, batch);
  State state(module);
  for (int step = 0; step < 4; ++step) {
    const std::vector<HostTensor> inputs = MnistBatch(step, batch);
    const Numbers loss = CheckedStep(session, step, inputs);
    EXPECT_LE(
        RoundingsApart(loss, ToNumbers(state.Step(module.main(), inputs))),
        kRoundings)
        << "step " << step;
    after_step(session);
  }
  ExpectSameVariables(VariablesOf(session), VariablesOf(module, state),
                      kRoundings);
}

}  // namespace partita
