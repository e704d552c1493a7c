// Data parallelism of whole models, in the kernels and layouts that a user's
// plan has: convolutions with batch norms, attention, a recurrent layer.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "graph/core_ops.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

// Channels fill the kernels' blocks, and each of three replicas has statistics
// of four values at least.
Module ResNet18(int parts) {
  auto module = ResNet18Training(
      {.batch = 12, .image = 8, .width = 16, .batch_norm_parts = parts});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// By plain gradients: that of the keys' biases is zero but for rounding, which
// Adam would divide by its own size.
Module Gpt(int64_t windows) {
  auto module = GptTraining({.batch = windows,
                             .layers = 2,
                             .width = 16,
                             .heads = 2,
                             .context = 8,
                             .vocabulary = 16,
                             .update = {.optimizer = {.momentum = 0.9},
                                        .schedule = {.learning_rate = 0.1}}});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Five windows, which two and three devices share unevenly.
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

Numbers CheckedLoss(Session& session, int step) {
  const Numbers loss = CheckedStep(session, step, Batch(session, step));
  ExpectEqualReplicas(session, session.plan().devices.size());
  return loss;
}

// How far from one device a model may be: about ten times what was seen, in
// roundings (training_steps.h).
struct Bounds {
  double first = 0;   // of variables after the first step
  double second = 0;  // of those after the second
  double losses = 0;
};

// True if gradients of weights are sums of the replicas' parts: at least of
// half of them, as weights may share one.
bool GradientsAreJoined(const Session& session) {
  return 2 * JoinedSums(session) >
         absl::c_count_if(session.plan().module.variables(),
                          [](const Variable& v) { return v.trainable; });
}

// Variables, optimizer state and statistics among them, after two steps. The
// plan is proved when it is compiled, and when the session is made.
void ExpectTrainsAsOneDeviceDoes(const Module& module, int devices,
                                 const Bounds& bounds) {
  SCOPED_TRACE(absl::StrCat(devices, " devices"));
  const auto one = OverDevices(module.Clone(), 1);
  const auto divided = OverDevices(module.Clone(), devices);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(divided, nullptr);
  EXPECT_TRUE(GradientsAreJoined(*divided));
  for (int step = 0; step < 2; ++step) {
    SCOPED_TRACE(absl::StrCat("step ", step));
    const Numbers expected = CheckedLoss(*one, step);
    ASSERT_EQ(expected.size(), 1u);
    EXPECT_LE(RoundingsApart(CheckedLoss(*divided, step), expected),
              bounds.losses);
    ExpectSameVariables(VariablesOf(*divided), VariablesOf(*one),
                        step == 0 ? bounds.first : bounds.second);
  }
}

// An input of relu that is zero but for rounding may have either sign in the
// second step. The loss does not leap there, but gradients do, by a tenth and
// more where a channel has few values: all that is asked of them then is to be
// numbers of their size. The loss tells that the first update was right.
constexpr double kLeaps = 1e7;

TEST(DividedModels, ResNet18WithStatisticsOfTheBatch) {
  ExpectTrainsAsOneDeviceDoes(ResNet18(1), 2,
                              {.first = 100, .second = kLeaps, .losses = 100});
}

// A variance of four values may be small, and what is divided by it so much
// further off.
TEST(DividedModels, ResNet18WithStatisticsOfEachReplica) {
  for (int devices : {2, 3}) {
    ExpectTrainsAsOneDeviceDoes(
        ResNet18(devices), devices,
        {.first = 1300, .second = kLeaps, .losses = 150});
  }
}

TEST(DividedModels, Gpt) {
  for (int devices : {2, 3}) {
    ExpectTrainsAsOneDeviceDoes(Gpt(6), devices,
                                {.first = 50, .second = 50, .losses = 10});
  }
}

// Rows that are windows one behind the other stay with their window.
TEST(DividedModels, GptOfUnevenWindows) {
  for (int devices : {2, 3}) {
    ExpectTrainsAsOneDeviceDoes(Gpt(5), devices,
                                {.first = 50, .second = 50, .losses = 10});
  }
}

TEST(DividedModels, Lstm) {
  for (int devices : {2, 3}) {
    ExpectTrainsAsOneDeviceDoes(Lstm(), devices,
                                {.first = 30, .second = 30, .losses = 10});
  }
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
