// What is known of a training before it is compiled.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/training_setup.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "partita/train/image_classifier.h"
#include "partita/train/testing/bar_images.h"
#include "partita/train/testing/test_training.h"

namespace partita {
namespace {

// 12 images in batches of 8.
TrainableModel Bars(uint64_t seed = 1) {
  auto model =
      MnistModel({.train = WriteBarImages(TestPath(""), 12, seed), .batch = 8},
                 /*dropout=*/0.5);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

TrainingSetup SetupOf(const TrainingRequest& request, TrainableModel model) {
  auto setup = SetUpTraining(request, std::move(model));
  EXPECT_TRUE(setup.ok()) << setup.status();
  return *std::move(setup);
}

// "" if there is no such setting.
std::string ValueOf(const TrainingSetup& setup, const std::string& name) {
  for (const TrainingSetting& setting : setup.settings) {
    if (setting.name == name) return setting.value;
  }
  return "";
}

TrainingRequest Scheduled(const std::string& schedule, int64_t steps) {
  return {
      .epochs = 3,
      .recipe = {.update = {.schedule = {.name = schedule, .steps = steps}}}};
}

TEST(TrainingSetup, AScheduleWithoutALengthHasItsUsualOne) {
  const TrainingRequest left_out = {
      .epochs = 3,
      .recipe = {.update = {.schedule = {.name = "cosine", .factor = 0}}}};
  EXPECT_EQ(ValueOf(SetupOf(left_out, Bars()), "decay-steps"), "6");
  EXPECT_EQ(ValueOf(SetupOf(Scheduled("step", 0), Bars()), "decay-steps"), "2");
  EXPECT_EQ(ValueOf(SetupOf(Scheduled("cosine", 0), Bars()), "decay-steps"),
            "6");
  EXPECT_EQ(ValueOf(SetupOf(Scheduled("cosine", 4), Bars()), "decay-steps"),
            "4");
  EXPECT_EQ(ValueOf(SetupOf(Scheduled("constant", 0), Bars()), "decay-steps"),
            "");
}

TEST(TrainingSetup, AnIncompleteLastBatchIsAStepUnlessItIsDropped) {
  EXPECT_EQ(SetupOf({}, Bars()).steps_per_epoch, 2);
  EXPECT_EQ(SetupOf({.drop_last = true}, Bars()).steps_per_epoch, 1);
}

TEST(TrainingSetup, WhatCannotBeTrainedIsRefused) {
  const auto refusal = [](TrainingRequest request, TrainableModel model) {
    return std::string(
        SetUpTraining(std::move(request), std::move(model)).status().message());
  };
  TrainableModel no_samples = Bars();
  no_samples.train.samples = nullptr;
  EXPECT_EQ(refusal({}, std::move(no_samples)),
            "training: found no samples to train on; expected a dataset");
  EXPECT_EQ(refusal({.epochs = 0}, Bars()),
            "training: found 0 epochs, 1 workers and an export batch of 0; "
            "expected one or more epochs and workers, and no negative batch");
  TrainableModel of_one_batch = Bars();
  of_one_batch.rebatched = nullptr;
  EXPECT_EQ(refusal({.export_path = TestPath("x"), .export_batch = 2},
                    std::move(of_one_batch)),
            "training: found an export batch for a model that cannot be built "
            "with another batch; expected none");
}

TEST(TrainingSetup, AnEpochOfNoStepsIsRefused) {
  TrainableModel model = Bars();
  model.batch = 16;
  EXPECT_EQ(SetUpTraining({.drop_last = true}, std::move(model)).status(),
            absl::InvalidArgumentError(
                "sampler: found 12 samples; expected at least one batch of 16; "
                "lower the batch size, or keep or fill up the last batch"));
}

TEST(TrainingSetup, OnlyTheNameOfABuiltInModelIsASetting) {
  EXPECT_EQ(ValueOf(SetupOf({.model = "builtin:mnist"}, Bars()), "model"),
            "builtin:mnist");
  EXPECT_EQ(ValueOf(SetupOf({.model = "mnist.onnx"}, Bars()), "model"), "");
}

TEST(TrainingSetup, OtherSamplesAndOtherOptionsAreOtherSettings) {
  const TrainingSetup first = SetupOf({.same_samples = "take them"}, Bars(1));
  const TrainingSetup same = SetupOf({}, Bars(1));
  const TrainingSetup other = SetupOf({.recipe = {.seed = 2}}, Bars(2));
  for (const char* name : {"dataset", "graph"}) {
    EXPECT_EQ(ValueOf(first, name), ValueOf(same, name)) << name;
    EXPECT_NE(ValueOf(first, name), ValueOf(other, name)) << name;
  }
  for (const TrainingSetting& setting : first.settings) {
    EXPECT_EQ(setting.fix, setting.name == "dataset" ? "take them" : "");
  }
}

TEST(TrainingSetup, AnExportMayHaveAnotherBatch) {
  const std::string path = TestPath("exported.onnx");
  const TrainingSetup own = SetupOf({.export_path = path}, Bars());
  EXPECT_EQ(&own.exported().module, &own.module);
  const TrainingSetup setup =
      SetupOf({.export_path = path, .export_batch = 2}, Bars());
  const ExportedFunction exported = setup.exported();
  const Graph& graph = *exported.module.FindFunction(exported.name);
  EXPECT_EQ(graph.type(graph.inputs()[0]).ToString(), "f32[2, 1, 28, 28]");
}

TEST(TrainingSetup, AnExportThatCannotBeWrittenIsRefused) {
  const absl::Status status =
      SetUpTraining({.export_path = "no_folder/out.onnx"}, Bars()).status();
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "no_folder/out.onnx: cannot be created"))
      << status;
}

TEST(TrainingSetup, StagesAreReportedByTheirFiles) {
  std::vector<std::string> stages;
  TrainableModel model = Bars();
  model.test = model.train;
  model.test.source = "test";
  ASSERT_TRUE(SetUpTraining({}, std::move(model), [&](absl::string_view stage) {
                stages.emplace_back(stage);
              }).ok());
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_TRUE(absl::StartsWith(stages[0], "read /")) << stages[0];
  EXPECT_EQ(stages[1], "read test");
}

}  // namespace
}  // namespace partita
