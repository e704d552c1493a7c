// Bubbles of plans on timed devices, which sleep for the predicted times.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "gtest/gtest.h"
#include "tests/gradients/pipeline_bubbles.h"

namespace partita {
namespace {

// Steps of one or two seconds, compared with which waking a thread takes no
// time; if a busy host wakes threads late, steps twice as long, up to 16 times.
constexpr double kSpeed = 1.0 / 1024;
constexpr double kSlower = 1.0 / 2;
constexpr double kLeastSpeed = kSpeed / 16;
// Other programs may keep the host busy now and then; no plan runs faster than
// predicted.
constexpr int kMostSteps = 3;
// What waking threads costs even the fastest step: of the longer steps on a
// quiet host, and in ./test.
constexpr double kWaking = 0.002;
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

struct TimedRun {
  double bubble = 0;  // of the fastest step
  double most = 0;    // what it may be
  std::string times;
};

absl::StatusOr<TimedRun> RunTimed(const StagedModel& model,
                                  const StageCase& stage_case, double host) {
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           InStages(model.make(), stage_case));
  PARTITA_ASSIGN_OR_RETURN(const double most,
                           MostBubble(model, stage_case, compiled));
  const auto session = TimedSession(std::move(compiled.plan));
  double seconds = SecondsOfStep(*session);
  for (int i = 1; i < kMostSteps; ++i) {
    if (BubbleOf(compiled, seconds) <= most + host) break;
    seconds = std::min(seconds, SecondsOfStep(*session));
  }
  return TimedRun{BubbleOf(compiled, seconds), most + host,
                  absl::StrCat(seconds, " s, predicted ",
                               compiled.report.entries[0].step_seconds)};
}

class OnTimedDevices : public testing::TestWithParam<StagedModel> {};

TEST_P(OnTimedDevices, TheBubbleIsThatOfTheBookOrOfPins) {
  const bool is_full = std::getenv("PARTITA_FULL") != nullptr;
  for (StageCase stage_case : AllStageCases(kSpeed)) {
    if (!is_full && (stage_case.stages != 4 || stage_case.micro_batches != 8))
      continue;
    SCOPED_TRACE(stage_case.ToString());
    const double host = is_full ? kWaking : kBusyHost;
    auto run = RunTimed(GetParam(), stage_case, host);
    ASSERT_TRUE(run.ok()) << run.status();
    while (run->bubble > run->most && stage_case.speed > kLeastSpeed) {
      stage_case.speed *= kSlower;
      run = RunTimed(GetParam(), stage_case, host);
      ASSERT_TRUE(run.ok()) << run.status();
    }
    EXPECT_LE(run->bubble, run->most) << run->times;
  }
}

INSTANTIATE_TEST_SUITE_P(PipelineBubble, OnTimedDevices,
                         testing::Values(kStagedGpt, kStagedMnist),
                         [](const auto& model) {
                           return std::string(model.param.name);
                         });

}  // namespace
}  // namespace partita
