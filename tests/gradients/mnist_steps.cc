// Batches, sessions and the comparison with eval.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gradients/mnist_steps.h"

#include <cmath>
#include <utility>

#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

void ExpectClose(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 2e-3 * (1 + std::fabs(expected[i])))
        << "number " << i;
  }
}

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

std::vector<HostTensor> MnistBatch(uint64_t seed) {
  HostTensor images =
      RandomTensor({DType::kF32, {kMnistBatch, 1, 28, 28}, {}}, seed, 0, 0.3);
  HostTensor labels({DType::kI64, {kMnistBatch}, {}});
  for (int64_t n = 0; n < kMnistBatch; ++n) {
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

std::unique_ptr<Session> TrainingSession(Module module, const Machine& machine,
                                         const CompileOptions& options) {
  auto compiled = Compile(std::move(module), machine, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  auto session =
      Session::Create(std::make_shared<Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

Numbers LossOf(Session& session, const std::vector<HostTensor>& inputs,
               const RunOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const absl::Status set = session.SetInput(static_cast<int>(i), inputs[i]);
    EXPECT_TRUE(set.ok()) << set;
  }
  const absl::Status run = session.Run(options);
  EXPECT_TRUE(run.ok()) << run;
  return run.ok() ? ToNumbers(**session.GetOutput("loss")) : Numbers();
}

void ExpectTrainsAsEvalDoes(Session& session,
                            absl::FunctionRef<void(Session&)> after_step) {
  const Module module = MnistModule(0.2);
  State state(module);
  for (int step = 0; step < 4; ++step) {
    const std::vector<HostTensor> inputs = MnistBatch(step);
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(session.SetInput(static_cast<int>(i), inputs[i]).ok());
    }
    const auto reference = session.RunReference();
    ASSERT_TRUE(reference.ok()) << reference.status();
    const Numbers loss = LossOf(session, inputs, {});
    EXPECT_EQ(loss, ToNumbers((*reference)[0])) << "step " << step;
    ExpectClose(loss, ToNumbers(state.Step(module.main(), inputs)));
    after_step(session);
  }
  for (const Variable& variable : module.variables()) {
    SCOPED_TRACE(variable.name);
    const auto value = session.ReadVariable(variable.name);
    ASSERT_TRUE(value.ok()) << value.status();
    ExpectClose(ToNumbers(*value), ToNumbers(state[variable.name]));
  }
}

}  // namespace partita
