// A whole training step of a convolution network: forward, backward and update
// as one function, by eval and as plans on one device and on two.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/verifier.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan.h"
#include "tests/gradients/drawn.h"

namespace partita {
namespace {

constexpr int64_t kBatch = 8;

Module Training(double dropout) {
  auto module = MnistTraining(
      {.batch = kBatch, .learning_rate = 0.05, .dropout = dropout});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Noise with a bright bar whose place says the label: a batch that a network
// can learn.
std::vector<HostTensor> Batch(uint64_t seed) {
  HostTensor images =
      RandomTensor({DType::kF32, {kBatch, 1, 28, 28}, {}}, seed, 0, 0.3);
  HostTensor labels({DType::kI64, {kBatch}, {}});
  for (int64_t n = 0; n < kBatch; ++n) {
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

double MeanOf(const Numbers& numbers, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += numbers[i];
  return sum / static_cast<double>(end - begin);
}

TEST(MnistTraining, TheStepIsOneFunctionThatVerifies) {
  const Module module = Training(0.5);
  ASSERT_TRUE(VerifyModule(module).ok()) << VerifyModule(module);
  ASSERT_EQ(module.functions().size(), 2u);
  // Eight parameters, their momenta, and the count of steps.
  EXPECT_EQ(module.main().updates().size(), 17u);
}

TEST(MnistTraining, TheLossFallsByEval) {
  const Module module = Training(0.2);
  State state(module);
  Numbers losses;
  for (int step = 0; step < 40; ++step) {
    losses.push_back(ToNumbers(state.Step(module.main(), Batch(step)))[0]);
  }
  EXPECT_GT(MeanOf(losses, 0, 4), 1.8);
  EXPECT_LT(MeanOf(losses, 36, 40), 0.5 * MeanOf(losses, 0, 4));
}

constexpr int64_t kMemory = int64_t{1} << 30;

std::unique_ptr<Session> SessionOf(Module module, const Machine& machine,
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

std::unique_ptr<Session> OnOneCpu(Module module) {
  CompileOptions options;
  options.strategy = "single";
  return SessionOf(std::move(module), EqualCpus(1, kMemory), options);
}

void ExpectClose(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 2e-3 * (1 + std::fabs(expected[i])))
        << "number " << i;
  }
}

// The plan is proved when the session is made. Every step has the bits of its
// reference and, but for rounding, the loss and the weights of eval, random
// numbers included.
void ExpectTrainsAsEvalDoes(Session& session) {
  const Module module = Training(0.2);
  State state(module);
  for (int step = 0; step < 4; ++step) {
    const std::vector<HostTensor> inputs = Batch(step);
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(session.SetInput(static_cast<int>(i), inputs[i]).ok());
    }
    const auto reference = session.RunReference();
    ASSERT_TRUE(reference.ok()) << reference.status();
    const absl::Status run = session.Run();
    ASSERT_TRUE(run.ok()) << run;
    const HostTensor& loss = **session.GetOutput("loss");
    EXPECT_EQ(ToNumbers(loss), ToNumbers((*reference)[0])) << "step " << step;
    ExpectClose(ToNumbers(loss), ToNumbers(state.Step(module.main(), inputs)));
  }
  for (const Variable& variable : module.variables()) {
    SCOPED_TRACE(variable.name);
    const auto value = session.ReadVariable(variable.name);
    ASSERT_TRUE(value.ok()) << value.status();
    ExpectClose(ToNumbers(*value), ToNumbers(state[variable.name]));
  }
}

TEST(MnistTraining, APlanOnOneDeviceTrainsAsEvalDoes) {
  const auto session = OnOneCpu(Training(0.2));
  ASSERT_NE(session, nullptr);
  ExpectTrainsAsEvalDoes(*session);
}

// The model is not changed: backward pass and update go where their layer is.
TEST(MnistTraining, LayersPinnedToTwoDevicesTrainAsEvalDoes) {
  CompileOptions options;
  options.strategy = "list";
  options.pins = {{"conv*", {"gpu:0"}}, {"fc*", {"gpu:1"}}};
  const auto session =
      SessionOf(Training(0.2), CpuAndGpus(2, kMemory), options);
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

TEST(MnistTraining, EvaluationReadsTheTrainedWeights) {
  const auto session = OnOneCpu(Training(0.2));
  ASSERT_NE(session, nullptr);
  const std::vector<HostTensor> inputs = Batch(0);
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
