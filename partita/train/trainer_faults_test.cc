// A training that ends early, or cannot begin, reports what its user can
// change, and keeps what was trained.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "partita/train/dataset_hash.h"
#include "partita/train/testing/bar_training.h"
#include "partita/train/testing/test_training.h"
#include "partita/train/trainer.h"
#include "runtime/dataset/transform.h"

namespace partita {
namespace {

// With this rate the weights diverge at the first step.
absl::StatusOr<TrainingEnd> Diverge(bool stop_at_nan, StopsAfter& observer) {
  const auto session = VirtualSession(
      PlanOf(MnistTraining({.batch = kBatch, .update = Sgd(1e30)})));
  TrainerOptions options = Options("");
  options.stop_at_nan = stop_at_nan;
  PARTITA_ASSIGN_OR_RETURN(const auto trainer,
                           Trainer::Create(*session, Images(), options));
  return trainer->Run(observer);
}

TEST(TrainerFaults, ALossThatIsNoNumberEndsTheTrainingAtItsStep) {
  StopsAfter never(0);
  EXPECT_EQ(Diverge(true, never).status().message(),
            "step 2 (epoch 1 batch 2): found loss nan; expected a finite "
            "number; lower the learning rate, or go on by --nan continue");
  EXPECT_EQ(never.losses.size(), 2u);
}

// Image 3 has a NaN pixel.
SharedDataset ImagesWithNan() {
  const SharedDataset images = Images(kBatch);
  const TensorType type = images->fields()[0].type;
  auto changed =
      TransformField(images, kImageField, type,
                     [size = type.num_bytes()](
                         int64_t sample, const std::byte* from, std::byte* to) {
                       std::memcpy(to, from, size);
                       if (sample == 3)
                         reinterpret_cast<float*>(to)[7] = std::nanf("");
                       return absl::OkStatus();
                     });
  EXPECT_TRUE(changed.ok()) << changed.status();
  return *std::move(changed);
}

TEST(TrainerFaults, ASampleThatIsNoNumberIsReportedByItsFile) {
  const auto session = VirtualSession(SharedPlan());
  const SharedDataset images = ImagesWithNan();
  const auto trainer = Trainer::Create(*session, images, Options(""));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  EXPECT_EQ(
      (*trainer)->Run(never).status().message(),
      absl::StrCat(
          "step 1 (epoch 1 batch 1): found loss nan, as of its "
          "batch in ",
          images->fields()[0].source,
          ": sample 3: images: nan; expected finite numbers; "
          "correct the dataset, or the numbers that normalize it, or go on by "
          "--nan continue"));
}

TEST(TrainerFaults, ASampleOfAnEarlierBatchIsReportedToo) {
  const SharedDataset images = ImagesWithNan();
  EXPECT_EQ(*FindNotFiniteSample(*images),
            absl::StrCat(images->fields()[0].source,
                         ": sample 3: images: nan; expected finite numbers"));
  EXPECT_EQ(*FindNotFiniteSample(*Images(kBatch)), "");
}

// The first loss is that of weights that are still good.
TEST(TrainerFaults, WeightsThatAreNoNumbersDoNotReplaceACheckpoint) {
  const std::string path = TestPath("spoilt");
  for (bool stop_at_nan : {true, false}) {
    const auto session = VirtualSession(
        PlanOf(MnistTraining({.batch = kBatch, .update = Sgd(3e38)})));
    std::ofstream(path) << "the last good one";
    TrainerOptions options = Options(path);
    options.every = 1;
    options.stop_at_nan = stop_at_nan;
    const auto trainer = Trainer::Create(*session, Images(), options);
    ASSERT_TRUE(trainer.ok()) << trainer.status();
    StopsAfter first(1);
    const auto end = (*trainer)->Run(first);
    EXPECT_TRUE(std::isfinite(first.losses.at(0)));
    EXPECT_EQ(first.losses.size(), 1u);
    EXPECT_EQ(end.ok(), !stop_at_nan);
    EXPECT_EQ(FileContent(path) == "the last good one", stop_at_nan);
    if (end.ok()) continue;
    EXPECT_EQ(end.status().message(),
              "checkpoint after step 1: found variable conv1.weight with "
              "numbers that are not finite; expected finite ones, and left the "
              "file as it was; lower the learning rate, or go on by --nan "
              "continue");
  }
}

TEST(TrainerFaults, ACheckpointOfNoNumbersIsReportedOnResume) {
  const std::string path = TestPath("spoilt");
  const auto plan =
      PlanOf(MnistTraining({.batch = kBatch, .update = Sgd(3e38)}));
  TrainerOptions options = Options(path);
  options.every = 1;
  options.stop_at_nan = false;
  const auto spoilt = VirtualSession(plan);
  const auto spoils = Trainer::Create(*spoilt, Images(), options);
  ASSERT_TRUE(spoils.ok()) << spoils.status();
  StopsAfter first(1);
  ASSERT_TRUE((*spoils)->Run(first).ok());
  options.stop_at_nan = true;
  const auto session = VirtualSession(plan);
  const auto trainer = Trainer::Create(*session, Images(), options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  ASSERT_TRUE((*trainer)->Resume(path).ok());
  StopsAfter never(0);
  EXPECT_EQ((*trainer)->Run(never).status().message(),
            "step 2 (epoch 1 batch 2): found loss nan, perhaps as of variable "
            "conv1.weight, which was not finite when this run began; expected "
            "finite numbers; resume an earlier checkpoint, or go on by --nan "
            "continue");
}

TEST(TrainerFaults, OrNotIfItIsToGoOn) {
  StopsAfter never(0);
  const auto end = Diverge(false, never);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, TrainingEnd::kDone);
  EXPECT_EQ(never.losses.size(), kSteps);
}

// If an observer fails, as on a full disk, the trained variables are kept.
TEST(TrainerFaults, AnObserverThatFailsCostsNoStep) {
  class FailsAfter final : public TrainingObserver {
   public:
    FailsAfter(int64_t steps, int64_t epochs)
        : steps_(steps), epochs_(epochs) {}
    absl::Status OnStep(const TrainingStep& step) override {
      if (step.step + 1 < steps_) return absl::OkStatus();
      absl::Status full = absl::ResourceExhaustedError("table: found no room");
      full.SetPayload("test", absl::Cord("kept too"));
      return full;
    }
    absl::Status OnEpoch(int64_t epoch) override {
      if (epoch + 1 < epochs_) return absl::OkStatus();
      return absl::ResourceExhaustedError("report: found no room");
    }
    bool WantsStop() override { return false; }

   private:
    const int64_t steps_;
    const int64_t epochs_;
  };
  const std::string whole = TrainedAtOnce();
  const std::string path = TestPath("observed");
  unlink(path.c_str());
  FailsAfter in_epoch(8, 3), at_its_end(18, 2);
  StopsAfter rest(0);
  const absl::Status first = TrainOn(path, in_epoch).status();
  EXPECT_EQ(first.message(),
            absl::StrCat("table: found no room; the training after step 8 is "
                         "kept in ",
                         path));
  EXPECT_EQ(first.GetPayload("test"), absl::Cord("kept too"));
  EXPECT_EQ(TrainOn(path, at_its_end).status().message(),
            absl::StrCat("report: found no room; the training after step 12 is "
                         "kept in ",
                         path));
  EXPECT_EQ(*TrainOn(path, rest), TrainingEnd::kDone);
  EXPECT_EQ(rest.losses.size(), 6u);
  EXPECT_EQ(FileContent(path), whole);
}

TEST(TrainerFaults, AFullDiskIsReportedWithTheStep) {
  StopsAfter never(0);
  const auto session = VirtualSession(SharedPlan());
  const auto trainer =
      Trainer::Create(*session, Images(), Options("/dev/full"));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_EQ((*trainer)->Run(never).status().message(),
            "checkpoint after step 6: /dev/full: cannot be written: No space "
            "left on device; make room there, or name a file on another disk");
}

// While it exists, no file of this process can grow.
class LimitsFiles {
 public:
  explicit LimitsFiles(size_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &limit_), 0);
    const rlimit lower = {.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &lower), 0);
  }
  ~LimitsFiles() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit_), 0);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit limit_;
  void (*const handler_)(int);
};

TEST(TrainerFaults, ACheckpointOutlivesTheNextOneThatHasNoRoom) {
  const std::string whole = TrainedAtOnce();
  const std::string path = TestPath("no_room");
  unlink(path.c_str());
  StopsAfter first(7), until_the_next(0), rest(0);
  ASSERT_EQ(*TrainOn(path, first), TrainingEnd::kStopped);
  const std::string kept = FileContent(path);
  {
    const auto session = VirtualSession(SharedPlan());
    const auto trainer = Trainer::Create(*session, Images(), Options(path));
    ASSERT_TRUE(trainer.ok()) << trainer.status();
    ASSERT_TRUE((*trainer)->Resume(path).ok());
    const size_t room = kept.size() / 2;
    const LimitsFiles limit(room);
    EXPECT_EQ((*trainer)->Run(until_the_next).status().message(),
              absl::StrCat("checkpoint after step 12: ", path,
                           ": cannot be written: File too large; after ", room,
                           " bytes, which are removed again; allow larger "
                           "files, or name one on another disk"));
  }
  EXPECT_EQ(until_the_next.losses.size(), 5u);
  EXPECT_EQ(FileContent(path), kept);
  EXPECT_EQ(*TrainOn(path, rest), TrainingEnd::kDone);
  EXPECT_EQ(rest.losses.size(), 11u);
  EXPECT_EQ(FileContent(path), whole);
}

TEST(TrainerFaults, APositionThatNoTrainingHasIsRefused) {
  const std::string path = TestPath("damaged");
  const auto session = VirtualSession(SharedPlan());
  const TrainerOptions options = Options("");
  HostTensor steps({DType::kU64, {}, {}});
  steps.data<uint64_t>()[0] = 9;
  ASSERT_TRUE(session->WriteVariable("step", steps).ok());
  ASSERT_TRUE(WriteCheckpoint(path, *session,
                              {.epoch = 1, .batch = 2, .step = 9},
                              options.settings)
                  .ok());
  const auto trainer = Trainer::Create(*session, Images(), options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_EQ((*trainer)->Resume(path).message(),
            path +
                ": found step 9 at epoch 1 batch 2; expected epochs of 6 "
                "batches; the file is damaged");
}

TEST(TrainerFaults, AnEndBeforeTheCheckpointIsRefused) {
  const std::string path = TestPath("further");
  StopsAfter never(0);
  ASSERT_EQ(*TrainOn(path, never, SharedPlan()), TrainingEnd::kDone);
  const auto session = VirtualSession(SharedPlan());
  TrainerOptions options = Options("");
  options.epochs = 2;
  const auto trainer = Trainer::Create(*session, Images(), options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_EQ((*trainer)->Resume(path).message(),
            path +
                ": found a training after step 18; expected at most the 12 "
                "steps of 2 epochs; train for more epochs, or continue another "
                "checkpoint");
}

TEST(TrainerFaults, AMissingFolderIsReportedBeforeTheFirstStep) {
  const auto session = VirtualSession(SharedPlan());
  EXPECT_EQ(Trainer::Create(*session, Images(), Options("/lost/x"))
                .status()
                .message(),
            "/lost/x: cannot be created: No such file or directory; make the "
            "folder, or name a file in another");
}

TEST(TrainerFaults, ADatasetOfOtherImagesIsRefused) {
  const auto session = VirtualSession(SharedPlan());
  TrainerOptions options = Options("");
  options.batch_size = 4;
  EXPECT_EQ(Trainer::Create(*session, Images(), options).status().message(),
            absl::StrCat(Images()->fields()[0].source,
                         ": field images: found batches f32[4, 1, 28, 28]; "
                         "expected f32[8, 1, 28, 28]; give the dataset that "
                         "the model was made for"));
}

TEST(TrainerFaults, ALabelThatIsNoClassIsReportedByItsSample) {
  const ImageFiles files = WriteBarImages(TestPath("bad"), 5, 1);
  std::fstream labels(files.labels,
                      std::ios::in | std::ios::out | std::ios::binary);
  labels.seekp(8 + 3);  // after the header
  labels.put(11);
  labels.close();
  const auto dataset = OpenLabelledImages(Described(files));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(HashDataset(**dataset).status().message(),
            "sample 3: labels: found label 11; expected 0..9 or -100; correct "
            "the dataset or the number of classes");
}

}  // namespace
}  // namespace partita
