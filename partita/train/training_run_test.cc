// A training from its model to the exported file, as a program calls it.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/training_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "graph/onnx/import.h"
#include "partita/train/image_classifier.h"
#include "partita/train/testing/bar_images.h"
#include "partita/train/testing/test_training.h"

namespace partita {
namespace {

// 12 images in batches of 8: two steps an epoch.
TrainingSetup Bars(int64_t epochs, DType precision = DType::kF32) {
  const ImageFiles files = WriteBarImages(TestPath(""), 12, 1);
  auto model = MnistModel({.train = files, .test = files, .batch = 8},
                          /*dropout=*/0.5);
  EXPECT_TRUE(model.ok()) << model.status();
  auto setup = SetUpTraining(
      {.epochs = epochs, .recipe = {.update = {.precision = precision}}},
      *std::move(model));
  EXPECT_TRUE(setup.ok()) << setup.status();
  return *std::move(setup);
}

absl::StatusOr<std::unique_ptr<TrainingRun>> Started(const TrainingSetup& setup,
                                                     TrainingRunOptions options,
                                                     int devices = 1) {
  options.load.devices = DeviceMode::kVirtual;
  return TrainingRun::Start(
      setup,
      PlanOf(setup.module.Clone(), devices == 1 ? "single" : "data", devices),
      options);
}

// Removes what a previous test wrote.
std::string NewPath(const std::string& name) {
  const std::string path = TestPath(name);
  unlink(path.c_str());
  return path;
}

struct Trained {
  std::unique_ptr<TrainingRun> run;
  TrainingRecord record;
};

Trained Train(const TrainingSetup& setup, const TrainingRunOptions& options,
              const TrainingEvents& events = {}) {
  auto run = Started(setup, options);
  EXPECT_TRUE(run.ok()) << run.status();
  TrainingRecord record = (*run)->NewRecord();
  const absl::Status done = (*run)->Run(record, events);
  EXPECT_TRUE(done.ok()) << done;
  return {*std::move(run), std::move(record)};
}

TEST(TrainingRun, ItsRecordHasEpochsEvaluationsAndATrace) {
  const TrainingSetup setup = Bars(2);
  const TrainingRecord record = Train(setup, {.trace = true}).record;
  EXPECT_EQ(record.step, 4);
  EXPECT_EQ(record.num_steps(), 4);
  EXPECT_FALSE(record.interrupted);
  EXPECT_EQ(record.trained.samples, 24);
  ASSERT_EQ(record.finished.size(), 2u);
  EXPECT_EQ(record.finished[1].trained.steps, 2);
  ASSERT_TRUE(record.test.has_value());
  EXPECT_EQ(record.test->samples, 12);
  EXPECT_EQ(record.test->loss, record.finished[1].test->loss);
  EXPECT_TRUE(absl::StrContains(record.trace, "traceEvents"));
  EXPECT_FALSE(record.loss_scale.has_value());
}

TEST(TrainingRun, AStoppedOneIsResumedToTheBit) {
  const TrainingSetup setup = Bars(2);
  const std::string whole = NewPath("whole"), parts = NewPath("parts");
  const std::string table = NewPath("table.csv");
  Train(setup, {.checkpoint = whole});
  int steps = 0;
  const TrainingRecord stopped =
      Train(setup, {.checkpoint = parts, .loss_table = table},
            {.on_step = [&](double) { ++steps; },
             .wants_stop = [&] { return steps == 3; }})
          .record;
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.step, 3);
  EXPECT_NE(FileContent(parts), FileContent(whole));
  const TrainingRecord rest =
      Train(setup, {.checkpoint = parts, .resume = parts, .loss_table = table})
          .record;
  EXPECT_EQ(rest.first_step, 3);
  EXPECT_EQ(rest.step, 4);
  EXPECT_EQ(rest.trained.steps, 1);
  EXPECT_EQ(FileContent(parts), FileContent(whole));
  for (const char* row : {"\n3,2,", "\n4,2,"}) {
    EXPECT_TRUE(absl::StrContains(FileContent(table), row)) << row;
  }
}

// All steps are done by then.
TEST(TrainingRun, AStopDuringTheLastEvaluationIsRecorded) {
  int evaluations = 0;
  const TrainingRecord record =
      Train(Bars(2), {},
            {.on_evaluation = [&] { ++evaluations; },
             .wants_stop = [&] { return evaluations == 2; }})
          .record;
  EXPECT_EQ(record.step, 4);
  EXPECT_TRUE(record.interrupted);
  EXPECT_FALSE(record.test.has_value());
}

TEST(TrainingRun, AnotherPlanContinuesOneOnlyIfAllowed) {
  const TrainingSetup setup = Bars(2);
  const std::string path = NewPath("one_device");
  Train(setup, {.checkpoint = path});
  const absl::Status refused =
      Started(setup, {.resume = path}, /*devices=*/2).status();
  EXPECT_TRUE(absl::StrContains(refused.message(), ": found plan ")) << refused;
  const auto run =
      Started(setup, {.resume = path, .resume_on = ResumeOn::kAnotherPlan}, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE((*run)->NewRecord().by_another_plan);
  EXPECT_EQ((*run)->NewRecord().step, 4);
}

TEST(TrainingRun, AnErrorAfterAnEpochEndsTheTrainingWithItsCheckpoint) {
  const TrainingSetup setup = Bars(2);
  const std::string path = NewPath("kept");
  const auto run = Started(setup, {.checkpoint = path});
  ASSERT_TRUE(run.ok()) << run.status();
  TrainingRecord record = (*run)->NewRecord();
  const absl::Status status =
      (*run)->Run(record, {.on_epoch = [](const EpochRecord& epoch) {
                    return absl::DataLossError("nobody listens");
                  }});
  EXPECT_EQ(status.message(),
            "nobody listens; the training after step 2 is kept in " + path);
  EXPECT_EQ(record.step, 2);
}

TEST(TrainingRun, ATableThatCannotBeWrittenIsRefusedBeforeTheNextStep) {
  const TrainingSetup setup = Bars(1);
  const auto run = Started(setup, {.loss_table = "/dev/full"});
  ASSERT_TRUE(run.ok()) << run.status();
  TrainingRecord record = (*run)->NewRecord();
  const absl::Status status = (*run)->Run(record);
  EXPECT_TRUE(absl::StartsWith(
      status.message(),
      "before step 1: /dev/full: cannot be written: No space left on device"))
      << status;
  EXPECT_EQ(record.step, 0);
}

TEST(TrainingRun, AScaledLossHasItsScaleInTheRecord) {
  const TrainingSetup setup = Bars(1, DType::kF16);
  const TrainingRecord record = Train(setup, {}).record;
  ASSERT_TRUE(record.loss_scale.has_value());
  EXPECT_GE(record.loss_scale->scale, 1);
}

TEST(TrainingRun, TheTrainedModelIsExported) {
  const TrainingSetup setup = Bars(1);
  const std::string path = NewPath("trained.onnx");
  const Trained trained = Train(setup, {});
  const absl::Status written =
      ExportEvaluation(setup.exported(), trained.run->session(), path);
  ASSERT_TRUE(written.ok()) << written;
  const auto module = ImportOnnx(path, {});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->main().outputs().size(), 1u);
}

}  // namespace
}  // namespace partita
