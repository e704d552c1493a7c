// Data parallelism of whole models, in the kernels and layouts that a user's
// plan has: convolutions with batch norms, attention, a recurrent layer.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "graph/core_ops.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/mnist_steps.h"

namespace partita {
namespace {

constexpr int kSteps = 2;

// Channels fill the kernels' blocks, and each of three replicas has statistics
// of four values at least.
Module ResNet18(int parts) {
  auto module = ResNet18Training(
      {.batch = 12, .image = 8, .width = 16, .batch_norm_parts = parts});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Five windows, which two and three devices share unevenly.
Module Gpt() {
  auto module = GptTraining({.batch = 5,
                             .layers = 2,
                             .width = 16,
                             .heads = 2,
                             .context = 8,
                             .vocabulary = 16});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Module Lstm() {
  auto module =
      LstmTraining({.batch = 5, .width = 16, .context = 6, .vocabulary = 16});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Images, or tokens and labels.
std::vector<HostTensor> Batch(const Session& session, int step) {
  std::vector<HostTensor> inputs;
  for (int i = 0; i < session.num_inputs(); ++i) {
    const TensorType& type = session.input_type(i);
    const double high = type.dtype == DType::kF32 ? 1 : 10;
    inputs.push_back(RandomTensor(type, 10 * step + i + 1, 0, high));
  }
  return inputs;
}

std::unique_ptr<Session> OverDevices(Module module, int devices) {
  CompileOptions options;
  options.strategy = devices == 1 ? "single" : "data";
  auto session = TrainingSession(std::move(module),
                                 EqualCpus(devices, kTrainingMemory), options);
  if (session != nullptr) {
    EXPECT_EQ(session->UseEntry("train"), absl::OkStatus());
  }
  return session;
}

void ExpectEqualReplicas(Session& session, int devices) {
  for (const Variable& variable : session.plan().module.variables()) {
    SCOPED_TRACE(variable.name);
    const auto values = session.ReadReplicas(variable.name);
    ASSERT_TRUE(values.ok()) << values.status();
    ASSERT_EQ(static_cast<int>(values->size()), devices);
    for (const HostTensor& value : *values) {
      EXPECT_EQ(ToNumbers(value), ToNumbers(values->front()));
    }
  }
}

// The losses of a few steps, each with the bits of its reference, and variables
// with those of the first replica: weights, optimizer state, statistics.
Numbers Train(Session& session, int devices) {
  Numbers losses;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<HostTensor> inputs = Batch(session, step);
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(session.SetInput(static_cast<int>(i), inputs[i]).ok());
    }
    const auto reference = session.RunReference();
    EXPECT_TRUE(reference.ok()) << reference.status();
    if (!reference.ok()) return losses;
    losses.push_back(LossOf(session, inputs, {}).front());
    EXPECT_EQ(losses.back(), ToNumbers(reference->front()).front());
    ExpectEqualReplicas(session, devices);
  }
  return losses;
}

// The plan is proved when it is compiled, and when the session is made.
void ExpectTrainsAsOneDeviceDoes(const Module& module, int devices) {
  SCOPED_TRACE(absl::StrCat(devices, " devices"));
  const auto one = OverDevices(module.Clone(), 1);
  const auto divided = OverDevices(module.Clone(), devices);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(divided, nullptr);
  const Numbers expected = Train(*one, 1);
  const Numbers losses = Train(*divided, devices);
  ASSERT_EQ(losses.size(), expected.size());
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR(losses[step], expected[step], 1e-3 * expected[step]) << step;
  }
}

TEST(DividedModels, ResNet18WithStatisticsOfTheBatch) {
  ExpectTrainsAsOneDeviceDoes(ResNet18(1), 2);
}

TEST(DividedModels, ResNet18WithStatisticsOfEachReplica) {
  for (int devices : {2, 3}) {
    ExpectTrainsAsOneDeviceDoes(ResNet18(devices), devices);
  }
}

TEST(DividedModels, Gpt) {
  for (int devices : {2, 3}) ExpectTrainsAsOneDeviceDoes(Gpt(), devices);
}

TEST(DividedModels, Lstm) {
  for (int devices : {2, 3}) ExpectTrainsAsOneDeviceDoes(Lstm(), devices);
}

// A convolution's weight gradient is made in blocks of channels. What waits to
// be summed over the replicas is put in rows before that.
TEST(DividedModels, SummandsAreReordered) {
  CompileOptions options;
  options.strategy = "data";
  const auto compiled =
      Compile(ResNet18(1), EqualCpus(3, kTrainingMemory), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  int reordered = 0;
  for (const OpView& op : compiled->plan.entries[0].graph->ops()) {
    reordered +=
        op.is(kReorder) && ShardingOf(op.node().placement.operands, 0).kind ==
                               Sharding::Kind::kPartial;
  }
  EXPECT_GT(reordered, 0);
}

}  // namespace
}  // namespace partita
