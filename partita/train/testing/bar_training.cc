// One plan, one dataset and one set of options for all.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/testing/bar_training.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "partita/train/testing/test_training.h"

namespace partita {

LabelledImages Described(const ImageFiles& files) {
  return {.files = files,
          .dims = {1, 28, 28},
          .classes = 10,
          .mean = {0.2f},
          .stddev = {0.3f}};
}

SharedDataset Images(int64_t samples, uint64_t seed) {
  auto dataset = OpenLabelledImages(
      Described(WriteBarImages(TestPath(""), samples, seed)));
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  return *std::move(dataset);
}

UpdateRule Sgd(double learning_rate) {
  return {.optimizer = {.momentum = 0.5},
          .schedule = {.learning_rate = learning_rate}};
}

std::shared_ptr<const Plan> SharedPlan() {
  static const std::shared_ptr<const Plan>& plan =
      *new auto(PlanOf(MnistTraining({.batch = kBatch, .update = Sgd(0.02)})));
  return plan;
}

TrainerOptions Options(const std::string& checkpoint) {
  return {.batch_size = kBatch,
          .epochs = kEpochs,
          .seed = 7,
          .checkpoint = checkpoint,
          .settings = {{"batch", "8"},
                       {"seed", "7"},
                       {"plan", "a", TrainingSetting::Kind::kRounds}}};
}

absl::StatusOr<TrainingEnd> TrainOn(const std::string& checkpoint,
                                    TrainingObserver& observer,
                                    const std::shared_ptr<const Plan>& plan) {
  const auto session = VirtualSession(plan);
  PARTITA_ASSIGN_OR_RETURN(
      const auto trainer,
      Trainer::Create(*session, Images(), Options(checkpoint)));
  if (access(checkpoint.c_str(), F_OK) == 0) {
    PARTITA_RETURN_IF_ERROR(trainer->Resume(checkpoint));
  }
  return trainer->Run(observer);
}

std::string TrainedAtOnce() {
  const std::string path = TestPath("whole");
  unlink(path.c_str());
  StopsAfter never(0);
  const auto end = TrainOn(path, never);
  EXPECT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, TrainingEnd::kDone);
  EXPECT_EQ(never.losses.size(), kSteps);
  EXPECT_EQ(never.epochs, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(never.samples, kEpochs * kSamples);
  return FileContent(path);
}

}  // namespace partita
