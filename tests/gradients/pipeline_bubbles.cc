// Models, their stages, and predicted bubbles.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gradients/pipeline_bubbles.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr int kBlocks = 4;
constexpr double kPoint = 0.01;
// The most that a step may take, relative to pins: the search of stages does
// not know the reorders that kernels need later.
constexpr double kMostOfPins = 1.04;

Machine EqualStages(const StageCase& stage_case) {
  Machine machine = EqualCpus(stage_case.stages, kTrainingMemory);
  for (MachineDevice& device : machine.devices) {
    for (double& flops : device.traits.peak_flops) flops *= stage_case.speed;
    device.traits.memory_bandwidth *= stage_case.speed;
  }
  // Transfers take almost no time, as in the textbook.
  for (Link& link : machine.links) link.bandwidth = 1e13 * stage_case.speed;
  return machine;
}

std::string DeviceOf(int stage) { return absl::StrCat("cpu:", stage); }

Module Gpt() {
  auto module = GptTraining({.batch = 32,
                             .layers = kBlocks,
                             .width = 64,
                             .heads = 2,
                             .context = 32,
                             .vocabulary = 64});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::vector<Pin> GptPins(int stages) {
  std::vector<Pin> pins = {{"embedding*", {DeviceOf(0)}}};
  for (int block = 0; block < kBlocks; ++block) {
    pins.push_back({absl::StrCat("block", block + 1, "*"),
                    {DeviceOf(block * stages / kBlocks)}});
  }
  pins.push_back({"head*", {DeviceOf(stages - 1)}});
  return pins;
}

Module Mnist() {
  auto module = MnistTraining({.batch = 256});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::vector<Pin> MnistPins(int stages) {
  std::vector<Pin> pins = {{"conv1*", {DeviceOf(0)}},
                           {"conv2*", {DeviceOf(1)}}};
  pins.push_back({"fc1*", {DeviceOf(stages == 2 ? 1 : 2)}});
  pins.push_back({"fc2*", {DeviceOf(stages == 2 ? 1 : 3)}});
  return pins;
}

}  // namespace

const StagedModel kStagedGpt = {"GPT", Gpt, GptPins};
const StagedModel kStagedMnist = {"MNIST", Mnist, MnistPins};

std::string StageCase::ToString() const {
  return absl::StrCat(stages, " stages, ", micro_batches, " micro-batches, ",
                      schedule == PipelineSchedule::kGPipe ? "GPipe" : "1F1B");
}

std::vector<StageCase> AllStageCases(double speed) {
  std::vector<StageCase> stage_cases;
  for (const int stages : {2, 4}) {
    for (const int micro_batches : {8, 32}) {
      for (const PipelineSchedule schedule :
           {PipelineSchedule::kOneForwardOneBackward,
            PipelineSchedule::kGPipe}) {
        stage_cases.push_back({stages, micro_batches, schedule, speed});
      }
    }
  }
  return stage_cases;
}

absl::StatusOr<Compiled> InStages(Module module, const StageCase& stage_case,
                                  const std::vector<Pin>& pins) {
  CompileOptions options;
  options.strategy = pins.empty() ? "pipeline" : "pinned";
  if (pins.empty()) options.planner.stages = stage_case.stages;
  options.pins = pins;
  options.micro_batches = stage_case.micro_batches;
  options.schedule = stage_case.schedule;
  return Compile(std::move(module), EqualStages(stage_case), options);
}

double BubbleOf(const Compiled& compiled, double seconds) {
  const std::vector<DeviceUse>& devices = compiled.report.entries[0].devices;
  double busy = 0;
  for (const DeviceUse& device : devices) busy += device.busy_seconds;
  return 1 - busy / (static_cast<double>(devices.size()) * seconds);
}

double BubbleOf(const Compiled& compiled) {
  return BubbleOf(compiled, compiled.report.entries[0].step_seconds);
}

double BubbleOfTheBook(const StageCase& stage_case) {
  return (stage_case.stages - 1.0) /
         (stage_case.micro_batches + stage_case.stages - 1.0);
}

double LeastBubble(const StageCase& stage_case) {
  const double wait = stage_case.stages - 1;
  return wait / (3 * stage_case.micro_batches + wait);
}

absl::StatusOr<double> MostBubble(const StagedModel& model,
                                  const StageCase& stage_case,
                                  const Compiled& found) {
  const double book = BubbleOfTheBook(stage_case) + kPoint;
  if (BubbleOf(found) <= book) return book;
  PARTITA_ASSIGN_OR_RETURN(
      const Compiled by_hand,
      InStages(model.make(), stage_case, model.pins(stage_case.stages)));
  const double seconds = by_hand.report.entries[0].step_seconds;
  return std::max(BubbleOf(found, kMostOfPins * seconds), book);
}

}  // namespace partita
