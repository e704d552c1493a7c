// The report of a training during the run and at its end.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "absl/strings/match.h"

namespace partita {
namespace {

// Two epochs of four steps of 16 images; `steps` are done, half a second each.
TrainReport After(int64_t steps) {
  TrainReport report = {
      .model = "builtin:mnist",
      .strategy = "single",
      .devices = {"cpu:0"},
      .sample_noun = "image",
      .samples = 64,
      .record = {.epochs = 2, .steps_per_epoch = 4, .step = steps}};
  report.record.trained = {.steps = steps,
                           .samples = 16 * steps,
                           .labels = 16 * steps,
                           .loss_sum = 0.25 * 16 * static_cast<double>(steps),
                           .seconds = 0.5 * static_cast<double>(steps)};
  return report;
}

TEST(TrainReport, ProgressIsABarWithLossRateAndTimeLeft) {
  EXPECT_EQ(TrainProgressText(After(1), 0.5),
            "[==                  ] epoch 1 of 2, step 1 of 8, loss 0.5000, 32 "
            "images/s, 0:04 left");
  EXPECT_EQ(TrainProgressText(After(5), 0.25),
            "[============        ] epoch 2 of 2, step 5 of 8, loss 0.2500, 32 "
            "images/s, 0:02 left");
  EXPECT_EQ(TrainProgressText(After(8), 0.125),
            "[====================] epoch 2 of 2, step 8 of 8, loss 0.1250, 32 "
            "images/s, 0:00 left");
}

TEST(TrainReport, KernelsThatAreNotThePlansAreReported) {
  TrainReport report = After(0);
  EXPECT_FALSE(absl::StrContains(TrainBeginText(report), "note:"));
  EXPECT_TRUE(absl::StrContains(TrainJson(report), "\"replaced_kernels\": []"));
  report.replaced_kernels = {{.planned = "a.conv",
                              .planned_arithmetic = "a 1",
                              .bound = "b.conv",
                              .bound_arithmetic = "b 1",
                              .commands = 2}};
  EXPECT_TRUE(absl::EndsWith(
      TrainBeginText(report),
      "\nnote: may be slower than a plan for this host, and differ in "
      "rounding: 2 commands by b.conv (b 1) instead of a.conv (a 1); `partita "
      "train` without --machine plans for this host\n"));
  report.replaced_kernels.push_back(report.replaced_kernels[0]);
  report.replaced_kernels[1].commands = 3;
  report.replaced_kernels[1].planned = "c.conv";
  EXPECT_TRUE(absl::EndsWith(
      TrainBeginText(report),
      ": 3 commands by b.conv (b 1) instead of c.conv (a 1), and 1 pair more "
      "(--json); `partita train` without --machine plans for this host\n"));
  EXPECT_TRUE(absl::StrContains(TrainJson(report), "\"bound\": \"b.conv\""));
}

TEST(TrainReport, StepsThatWaitForTheDatasetAreReported) {
  TrainReport report = After(8);
  report.record.seconds_waited = 0.09;
  EXPECT_EQ(TrainEndText(report),
            "trained 8 of 8 steps, 8 now in 4.00 s, 32 images/s\n");
  report.record.seconds_waited = 1.5;
  EXPECT_EQ(TrainEndText(report),
            "trained 8 of 8 steps, 8 now in 4.00 s, 32 images/s, waited 1.50 s "
            "for the dataset\n");
}

TEST(TrainReport, SlowNodesThatTakeAHundredthOfAStepAreReported) {
  TrainReport report = After(0);
  report.fallbacks = {.nodes = {"a", "b", "c", "d", "e", "f"},
                      .kernels = {"reference.eval"},
                      .seconds = 12e-6};
  report.step_seconds = 1e-3;
  EXPECT_EQ(TrainBeginText(report),
            "builtin:mnist by single on cpu:0: 64 images, 4 steps an epoch, 2 "
            "epochs\n"
            "slow 6 nodes without a fast kernel, run by eval in a predicted "
            "12.0 us: a, b, c, d, e, ...\n");
  report.fallbacks.kernels = {"onednn.matmul", "reference.eval"};
  EXPECT_TRUE(absl::StrContains(
      TrainBeginText(report),
      "run by plain loops (onednn.matmul, reference.eval) in a predicted "));
  report.fallbacks.no_codegen = "found no generator";
  EXPECT_TRUE(absl::EndsWith(
      TrainBeginText(report),
      "\nslow as there is no generated code: found no generator\n"));
  report.step_seconds = 2e-3;
  EXPECT_EQ(TrainBeginText(report),
            "builtin:mnist by single on cpu:0: 64 images, 4 steps an epoch, 2 "
            "epochs\n");
}

TEST(TrainReport, OneOfAKindIsOne) {
  TrainReport report = After(0);
  report.samples = 1;
  report.record.steps_per_epoch = 1;
  report.record.epochs = 1;
  EXPECT_EQ(TrainBeginText(report),
            "builtin:mnist by single on cpu:0: 1 image, 1 step an epoch, 1 "
            "epoch\n");
}

// The first line up to the devices.
std::string HeadOver(std::vector<std::string> devices) {
  TrainReport report = After(0);
  report.devices = std::move(devices);
  const std::string text = TrainBeginText(report);
  return text.substr(0, text.find(": 64"));
}

TEST(TrainReport, PinsAreReportedBesideTheStrategy) {
  TrainReport report = After(0);
  report.devices = {"cpu:0", "gpu:0"};
  report.has_pins = true;
  EXPECT_TRUE(absl::StartsWith(
      TrainBeginText(report),
      "builtin:mnist by single over cpu:0, gpu:0, with pins: 64 images, "));
  report.strategy = "pinned";
  EXPECT_TRUE(
      absl::StartsWith(TrainBeginText(report),
                       "builtin:mnist by pinned over cpu:0, gpu:0: 64 "));
}

TEST(TrainReport, TheStepThatTheSearchChoseIsReportedBesideIt) {
  TrainReport report = After(0);
  EXPECT_FALSE(absl::StrContains(TrainJson(report), "chosen_step"));
  report.strategy = "search";
  report.chosen_step = "4 micro-batches, gpipe, buckets of 1 MiB";
  report.devices = {"cpu:0", "cpu:1"};
  EXPECT_TRUE(absl::StartsWith(
      TrainBeginText(report),
      "builtin:mnist by search in 4 micro-batches, gpipe, buckets of 1 MiB "
      "over cpu:0, cpu:1: 64 images, "));
  EXPECT_TRUE(absl::StrContains(TrainJson(report),
                                "\"chosen_step\": \"4 micro-batches, gpipe"));
}

TEST(TrainReport, ManyDevicesAreReportedBriefly) {
  EXPECT_EQ(HeadOver({"cpu:0", "gpu:0"}),
            "builtin:mnist by single over cpu:0, gpu:0");
  EXPECT_EQ(HeadOver({"gpu:1", "gpu:2", "gpu:3", "gpu:4", "gpu:5"}),
            "builtin:mnist by single over gpu:1 to gpu:5");
  EXPECT_EQ(HeadOver({"gpu:0", "gpu:1", "gpu:2", "gpu:3", "gpu:5"}),
            "builtin:mnist by single over 5 devices");
  EXPECT_EQ(HeadOver({"cpu:0", "gpu:1", "gpu:2", "gpu:3", "gpu:4"}),
            "builtin:mnist by single over 5 devices");
  EXPECT_TRUE(absl::StrContains(TrainJson(After(0)),
                                "\"devices\": [\n    \"cpu:0\"\n  ]"));
}

TEST(TrainReport, StepsThatTheLossScaleSkippedAreReported) {
  TrainReport report = After(8);
  report.record.loss_scale = LossScaleRecord{8192, 3};
  EXPECT_EQ(
      TrainEndText(report),
      "trained 8 of 8 steps, 8 now in 4.00 s, 32 images/s, 3 steps without an "
      "update, as gradients were not finite, loss scale 8192\n");
  EXPECT_TRUE(absl::StrContains(TrainJson(report), "\"skipped_steps\": 3"));
}

TEST(TrainReport, LossesThatWereNoFiniteNumbersAreCounted) {
  TrainReport report = After(8);
  report.record.trained.num_nan = 1;
  EXPECT_EQ(TrainEndText(report),
            "trained 8 of 8 steps, 8 now in 4.00 s, 32 images/s, 1 loss that "
            "was not finite\n");
  report.record.trained.num_nan = 2;
  EXPECT_EQ(TrainEndText(report),
            "trained 8 of 8 steps, 8 now in 4.00 s, 32 images/s, 2 losses that "
            "were not finite\n");
}

// Steps of previous runs count for the bar, not for the rate.
TEST(TrainReport, AResumedTrainingGoesOnInItsBar) {
  TrainReport report = After(2);
  report.record.first_step = 4;
  report.record.step = 6;
  EXPECT_EQ(TrainProgressText(report, 0.25),
            "[===============     ] epoch 2 of 2, step 6 of 8, loss 0.2500, 32 "
            "images/s, 0:01 left");
  EXPECT_EQ(TrainBeginText(report),
            "builtin:mnist by single on cpu:0: 64 images, 4 steps an epoch, 2 "
            "epochs\n"
            "resumed after step 4 of 8\n");
}

TEST(TrainReport, ClassesThatAreWordsAreReported) {
  TrainReport report = After(0);
  report.class_names = {"setosa", "virginica"};
  EXPECT_EQ(TrainBeginText(report),
            "builtin:mnist by single on cpu:0: 64 images, 4 steps an epoch, 2 "
            "epochs\n"
            "labels: setosa 0, virginica 1\n");
  report.class_names.assign(21, "a");
  EXPECT_TRUE(absl::EndsWith(TrainBeginText(report), ", a 19, ...\n"));
}

TEST(TrainReport, BatchNormsPerReplicaAreReported) {
  TrainReport report = After(0);
  report.batch_norm_shards = 2;
  EXPECT_TRUE(absl::EndsWith(
      TrainBeginText(report),
      "\nbatch norms use the statistics of each replica's shard of the batch; "
      "with --batch-norm synchronised, those of the whole batch\n"));
}

TEST(TrainReport, ShardedUpdatesAreReportedIfRequested) {
  TrainReport report = After(0);
  const std::string before = TrainBeginText(report);
  report.sharded_updates = ShardedUpdates{.sharded = 3, .all = 8};
  EXPECT_EQ(TrainBeginText(report),
            before + "3 of @train's 8 weights with sharded updates\n");
  report.sharded_updates->sharded = 0;
  EXPECT_TRUE(absl::StartsWith(
      TrainBeginText(report),
      before + "none of @train's 8 weights has a sharded update; "));
}

TEST(TrainReport, TimesOfHoursAreReportedInHours) {
  TrainReport report = After(1);
  report.record.epochs = 3000;
  EXPECT_EQ(TrainProgressText(report, 0.5),
            "[                    ] epoch 1 of 3000, step 1 of 12000, loss "
            "0.5000, 32 images/s, 1:40:00 left");
}

TEST(TrainReport, ALossThatIsNoNumberHasNoSign) {
  EXPECT_EQ(
      TrainProgressText(After(4), -std::numeric_limits<double>::quiet_NaN()),
      "[==========          ] epoch 1 of 2, step 4 of 8, loss nan, 32 "
      "images/s, 0:02 left");
}

TEST(TrainReport, AnEpochReportsLossRateAndEvaluation) {
  const TrainReport report = After(4);
  EpochRecord epoch = {
      .epoch = 0, .trained = report.record.trained, .test = {}};
  EXPECT_EQ(EpochText(epoch, report),
            "epoch 1 of 2: loss 0.2500, 32 images/s\n");
  epoch.test =
      Evaluation{.samples = 10, .labels = 10, .correct = 9, .loss = 0.5};
  EXPECT_EQ(EpochText(epoch, report),
            "epoch 1 of 2: loss 0.2500, test loss 0.5000, test accuracy 90.00 "
            "%, 32 images/s\n");
}

TEST(TrainReport, AnEpochReportsHowManyStepsAreNotInItsLoss) {
  const TrainReport report = After(4);
  EpochRecord epoch = {
      .epoch = 0, .trained = report.record.trained, .test = {}};
  epoch.trained.num_nan = 1;
  epoch.trained.labels -= 16;
  epoch.trained.loss_sum -= 0.25 * 16;
  EXPECT_EQ(EpochText(epoch, report),
            "epoch 1 of 2: loss 0.2500 (1 of 4 steps had no finite one), 32 "
            "images/s\n");
  TrainReport finished = report;
  finished.record.finished = {epoch};
  EXPECT_TRUE(absl::StrContains(TrainJson(finished), "\"nan_losses\": 1"));
  epoch.trained.num_nan = 4;
  epoch.trained.labels = 0;
  epoch.trained.loss_sum = 0;
  EXPECT_EQ(EpochText(epoch, report), "epoch 1 of 2: loss nan, 32 images/s\n");
}

}  // namespace
}  // namespace partita
