// A whole training step of a convolution network: forward, backward and update
// as one function, by eval and as plans on one device and on two.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/verifier.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan.h"
#include "tests/gradients/mnist_steps.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

double MeanOf(const Numbers& numbers, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += numbers[i];
  return sum / static_cast<double>(end - begin);
}

TEST(MnistTraining, TheStepIsOneFunctionThatVerifies) {
  const Module module = MnistModule(0.5);
  ASSERT_TRUE(VerifyModule(module).ok()) << VerifyModule(module);
  ASSERT_EQ(module.functions().size(), 2u);
  // Eight parameters, their momenta, and the count of steps.
  EXPECT_EQ(module.main().updates().size(), 17u);
}

TEST(MnistTraining, TheLossFallsByEval) {
  const Module module = MnistModule(0.2);
  State state(module);
  Numbers losses;
  for (int step = 0; step < 40; ++step) {
    losses.push_back(ToNumbers(state.Step(module.main(), MnistBatch(step)))[0]);
  }
  EXPECT_GT(MeanOf(losses, 0, 4), 1.8);
  EXPECT_LT(MeanOf(losses, 36, 40), 0.5 * MeanOf(losses, 0, 4));
}

std::unique_ptr<Session> OnOneCpu(Module module) {
  CompileOptions options;
  options.strategy = "single";
  return TrainingSession(std::move(module), EqualCpus(1, kTrainingMemory),
                         options);
}

TEST(MnistTraining, APlanOnOneDeviceTrainsAsEvalDoes) {
  const auto session = OnOneCpu(MnistModule(0.2));
  ASSERT_NE(session, nullptr);
  ExpectTrainsAsEvalDoes(*session);
}

// The model does not change: backward pass and update follow their layer.
TEST(MnistTraining, LayersPinnedToTwoDevicesTrainAsEvalDoes) {
  CompileOptions options;
  options.strategy = "list";
  options.pins = {{"conv*", {"gpu:0"}}, {"fc*", {"gpu:1"}}};
  const auto session = TrainingSession(MnistModule(0.2),
                                       CpuAndGpus(2, kTrainingMemory), options);
  ASSERT_NE(session, nullptr);
  ExpectTrainsAsEvalDoes(*session);
  for (const OpView& op : session->plan().module.main().ops()) {
    if (op.node().scope.empty() || op.op().traits.placed_only) continue;
    if (op.num_operands() == 0) continue;  // constants go to their readers
    ASSERT_EQ(op.node().placement.devices.size(), 1u) << op.ToString();
    EXPECT_EQ(op.node().placement.devices[0],
              op.node().scope.rfind("conv", 0) == 0 ? "gpu:0" : "gpu:1")
        << op.ToString() << " of " << op.node().scope;
  }
}

// Every activation and every gradient between layers is transferred.
TEST(MnistTraining, AlternatingPinsChangeNoBit) {
  const auto pinned = [](const char* odd, const char* even) {
    CompileOptions options;
    options.strategy = "pinned";
    options.pins = {
        {"conv1", {odd}}, {"conv2", {even}}, {"fc1", {odd}}, {"fc2", {even}}};
    return TrainingSession(MnistModule(0.2), CpuAndGpus(2, kTrainingMemory),
                           options);
  };
  const auto one = pinned("gpu:0", "gpu:0");
  const auto two = pinned("gpu:0", "gpu:1");
  ASSERT_NE(one, nullptr);
  ASSERT_NE(two, nullptr);
  ExpectTrainsAsEvalDoes(*one);
  ExpectTrainsAsEvalDoes(*two);
  ExpectSameBits(*two, *one);
}

TEST(MnistTraining, EvaluationReadsTheTrainedWeights) {
  const auto session = OnOneCpu(MnistModule(0.2));
  ASSERT_NE(session, nullptr);
  const std::vector<HostTensor> inputs = MnistBatch(0);
  const auto evaluate = [&]() -> Numbers {
    EXPECT_TRUE(session->UseEntry("evaluate").ok());
    EXPECT_TRUE(session->SetInput("images", inputs[0]).ok());
    EXPECT_TRUE(session->Run().ok());
    return ToNumbers(**session->GetOutput("log_probabilities"));
  };
  const Numbers before = evaluate();
  EXPECT_EQ(evaluate(), before);
  ASSERT_TRUE(session->UseEntry("train").ok());
  ASSERT_TRUE(session->SetInput("images", inputs[0]).ok());
  ASSERT_TRUE(session->SetInput("labels", inputs[1]).ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_NE(evaluate(), before);
}

}  // namespace
}  // namespace partita
