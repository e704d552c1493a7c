// f16 steps whose gradients overflow, as plans over replicas with uneven
// shards: the loss scale falls, and nothing is learned from these steps.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/loss_scaling.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/mnist_steps.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr int kReplicas = 3;  // three, three and two images
constexpr char kGoodSteps[] = "loss_scale.good_steps";

// Without dropout and with a constant learning rate: only Adam depends on a
// count.
std::unique_ptr<Session> OverReplicas(const std::string& optimizer,
                                      double scale) {
  const OptimizerOptions choice = {.name = optimizer,
                                   .momentum = optimizer == "sgd" ? 0.5 : 0};
  auto module = MnistTraining({.batch = kMnistBatch,
                               .update = {.optimizer = choice,
                                          .schedule = {.learning_rate = 0.01},
                                          .precision = DType::kF16},
                               .dropout = 0});
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.strategy = "data";
  auto session = TrainingSession(
      *std::move(module), EqualCpus(kReplicas, kTrainingMemory), options);
  if (session == nullptr) return nullptr;
  HostTensor value({DType::kF32, {}, {}});
  value.data<float>()[0] = static_cast<float>(scale);
  const absl::Status written = session->WriteVariable(kLossScale, value);
  EXPECT_TRUE(written.ok()) << written;
  return session;
}

double NumberOf(Session& session, const std::string& variable) {
  const auto value = session.ReadVariable(variable);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? GetAsDouble(*value, 0) : std::nan("");
}

// Weights and optimizer state, as bits.
std::map<std::string, HostTensor> LearnedOf(Session& session) {
  std::map<std::string, HostTensor> learned;
  for (const Variable& variable : session.plan().module.variables()) {
    if (variable.name == "step" ||
        absl::StartsWith(variable.name, kLossScale)) {
      continue;
    }
    auto value = session.ReadVariable(variable.name);
    EXPECT_TRUE(value.ok()) << value.status();
    if (value.ok()) learned.emplace(variable.name, *std::move(value));
  }
  return learned;
}

void ExpectLearned(Session& session,
                   const std::map<std::string, HostTensor>& expected) {
  const auto found = LearnedOf(session);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, value] : found) {
    EXPECT_TRUE(SameBits(value, expected.at(name))) << "variable " << name;
  }
}

// Every replica has the bits of the reference, and so of the others.
double Loss(Session& session, int step, const std::vector<HostTensor>& batch) {
  const Numbers loss = CheckedStep(session, step, batch);
  ExpectEqualReplicas(session, kReplicas);
  return loss.size() == 1 ? loss[0] : std::nan("");
}

// The number of steps of the first batch that overflow before one does not.
// Each of them halves the scale and changes nothing that was learned.
int StepsLeftOut(Session& session) {
  const auto before = LearnedOf(session);
  double scale = NumberOf(session, kLossScale);
  for (int step = 0; step < 20; ++step) {
    EXPECT_TRUE(std::isfinite(Loss(session, step, MnistBatch(0))));
    EXPECT_EQ(NumberOf(session, "step"), step + 1);
    if (NumberOf(session, kSkippedSteps) == step) return step;
    scale /= 2;
    EXPECT_EQ(NumberOf(session, kLossScale), scale);
    EXPECT_EQ(NumberOf(session, kSkippedSteps), step + 1);
    EXPECT_EQ(NumberOf(session, kGoodSteps), 0);
    ExpectLearned(session, before);
  }
  ADD_FAILURE() << "all steps overflow";
  return 0;
}

// Once the scale is small enough, training continues like one that started with
// it, bit for bit: momenta and Adam's count ignore the skipped steps. (A later
// batch may lower the scale of both.)
TEST(OverflowingSteps, AreNotOfTheTraining) {
  constexpr double kTooMuch = 1 << 19;
  for (const char* optimizer : {"adam", "sgd"}) {
    SCOPED_TRACE(optimizer);
    const auto overflown = OverReplicas(optimizer, kTooMuch);
    ASSERT_NE(overflown, nullptr);
    const auto initial = LearnedOf(*overflown);
    const int left_out = StepsLeftOut(*overflown);
    EXPECT_GE(left_out, 2);
    const double scale = NumberOf(*overflown, kLossScale);
    EXPECT_EQ(scale, std::ldexp(kTooMuch, -left_out));
    EXPECT_EQ(NumberOf(*overflown, kGoodSteps), 1);
    const auto fresh = OverReplicas(optimizer, scale);
    ASSERT_NE(fresh, nullptr);
    Loss(*fresh, 0, MnistBatch(0));
    ExpectLearned(*overflown, LearnedOf(*fresh));
    for (int step = 1; step < 4; ++step) {
      EXPECT_EQ(Loss(*overflown, left_out + step, MnistBatch(step)),
                Loss(*fresh, step, MnistBatch(step)));
    }
    ExpectLearned(*overflown, LearnedOf(*fresh));
    for (const char* variable : {kLossScale, kGoodSteps}) {
      EXPECT_EQ(NumberOf(*overflown, variable), NumberOf(*fresh, variable));
    }
    EXPECT_EQ(NumberOf(*overflown, kSkippedSteps),
              left_out + NumberOf(*fresh, kSkippedSteps));
    EXPECT_GE(NumberOf(*fresh, "step") - NumberOf(*fresh, kSkippedSteps), 2);
    for (const auto& [name, value] : LearnedOf(*overflown)) {
      EXPECT_FALSE(SameBits(value, initial.at(name))) << "variable " << name;
    }
  }
}

// The batch, with `brightness` for the image of the last replica.
std::vector<HostTensor> WithLastImage(float brightness) {
  std::vector<HostTensor> inputs = MnistBatch(0);
  auto pixels = inputs[0].data<float>();
  std::for_each(pixels.end() - 784, pixels.end(),
                [&](float& pixel) { pixel *= brightness; });
  return inputs;
}

TEST(OverflowingSteps, OfOneReplicaAreLeftOutByAll) {
  constexpr double kScale = 1024;
  const auto plain = OverReplicas("adam", kScale);
  const auto bright = OverReplicas("adam", kScale);
  ASSERT_NE(plain, nullptr);
  ASSERT_NE(bright, nullptr);
  const auto initial = LearnedOf(*bright);
  EXPECT_TRUE(std::isfinite(Loss(*bright, 0, WithLastImage(300))));
  EXPECT_EQ(NumberOf(*bright, kSkippedSteps), 1);
  EXPECT_EQ(NumberOf(*bright, kLossScale), kScale / 2);
  ExpectLearned(*bright, initial);
  // The other replicas' images do not overflow.
  Loss(*plain, 0, WithLastImage(0));
  EXPECT_EQ(NumberOf(*plain, kSkippedSteps), 0);
  EXPECT_EQ(NumberOf(*plain, kLossScale), kScale);
}

}  // namespace
}  // namespace partita
