// Bubbles of plans that timed devices play, which sleep for what is predicted.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/gradients/pipeline_bubbles.h"

namespace partita {
namespace {

// Steps of one or two seconds, beside which it takes no time to wake a thread.
constexpr double kSpeed = 1.0 / 1024;
// Something else may keep the host busy now and then; no plan is played faster
// than it can be.
constexpr int kMostSteps = 8;
constexpr int kMostStepsInFull = 40;
// What a busy host may cost even the fastest of them, in ./test.
constexpr double kBusyHost = 0.02;

double SecondsOfStep(Session& session) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(session.Run().ok());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

std::unique_ptr<Session> TimedSession(Plan plan) {
  auto session = Session::Create(std::make_shared<const Plan>(std::move(plan)),
                                 {.devices = DeviceMode::kTimed});
  EXPECT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < (*session)->num_inputs(); ++i) {
    const HostTensor zeros((*session)->input_type(i));
    EXPECT_TRUE((*session)->SetInput(i, zeros).ok());
  }
  return *std::move(session);
}

class OnTimedDevices : public testing::TestWithParam<StagedModel> {};

TEST_P(OnTimedDevices, TheBubbleIsThatOfTheBookOrOfPins) {
  const bool is_full = std::getenv("PARTITA_FULL") != nullptr;
  for (const Cut& cut : AllCuts(kSpeed)) {
    if (!is_full && (cut.stages != 4 || cut.micro_batches != 8)) continue;
    SCOPED_TRACE(cut.ToString());
    auto compiled = InStages(GetParam().make(), cut);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto most = MostBubble(GetParam(), cut, *compiled);
    ASSERT_TRUE(most.ok()) << most.status();
    const double bound = *most + (is_full ? 0 : kBusyHost);
    const auto session = TimedSession(std::move(compiled->plan));
    double seconds = SecondsOfStep(*session);
    for (int i = 1; i < (is_full ? kMostStepsInFull : kMostSteps); ++i) {
      if (BubbleOf(*compiled, seconds) <= bound) break;
      seconds = std::min(seconds, SecondsOfStep(*session));
    }
    EXPECT_LE(BubbleOf(*compiled, seconds), bound)
        << seconds << " s, predicted "
        << compiled->report.entries[0].step_seconds;
  }
}

INSTANTIATE_TEST_SUITE_P(PipelineBubble, OnTimedDevices,
                         testing::Values(kStagedGpt, kStagedMnist),
                         [](const auto& model) {
                           return std::string(model.param.name);
                         });

}  // namespace
}  // namespace partita
