// Trainings that are interrupted and resumed have the bits of one that is not.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/trainer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "partita/train/bar_images.h"
#include "partita/train/batch_inputs.h"
#include "partita/train/dataset_hash.h"
#include "partita/train/evaluation.h"
#include "partita/train/labelled_images.h"
#include "partita/train/testing/test_training.h"
#include "runtime/dataset/transform.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

// Six batches an epoch, of which the last has three samples and five that fill
// it up.
constexpr int64_t kSamples = 43;
constexpr int64_t kBatch = 8;
constexpr int64_t kEpochs = 3;
constexpr int64_t kSteps = 18;

LabelledImages Described(const ImageFiles& files) {
  return {.files = files,
          .dims = {1, 28, 28},
          .classes = 10,
          .mean = {0.2f},
          .stddev = {0.3f}};
}

SharedDataset Images(int64_t samples = kSamples, uint64_t seed = 1) {
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

// Parts of two, three and three images.
std::shared_ptr<const Plan> PlanOnThreeDevices() {
  static const std::shared_ptr<const Plan>& plan = *new auto(
      PlanOf(MnistTraining({.batch = kBatch, .update = Sgd(0.02)}), "data", 3));
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

// A session of its own trains from the checkpoint, if it is there, until the
// observer stops it.
absl::StatusOr<TrainingEnd> TrainOn(
    const std::string& checkpoint, TrainingObserver& observer,
    const std::shared_ptr<const Plan>& plan = SharedPlan()) {
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

// Of 43 samples in batches of 8, three are left out of each epoch, other ones
// each time.
TEST(Trainer, ALastBatchThatIsNotWholeMayBeLeftOut) {
  TrainerOptions options = Options("");
  options.drop_last = true;
  const auto session = VirtualSession(SharedPlan());
  const auto trainer = Trainer::Create(*session, Images(), options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_EQ((*trainer)->steps_per_epoch(), 5);
  StopsAfter never(0);
  const auto end = (*trainer)->Run(never);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(never.losses.size(), 5u * kEpochs);
  EXPECT_EQ(never.samples, 40 * kEpochs);
}

TEST(Trainer, AnInterruptedTrainingHasTheBitsOfOneThatWasNot) {
  const std::string whole = TrainedAtOnce();
  for (int64_t step : {1, 5, 6, 7, 17}) {
    SCOPED_TRACE(step);
    const std::string path = TestPath("parts");
    unlink(path.c_str());
    StopsAfter first(step), rest(0);
    EXPECT_EQ(*TrainOn(path, first), TrainingEnd::kStopped);
    EXPECT_NE(FileContent(path), whole);
    EXPECT_EQ(*TrainOn(path, rest), TrainingEnd::kDone);
    EXPECT_EQ(static_cast<int64_t>(rest.losses.size()), kSteps - step);
    EXPECT_EQ(FileContent(path), whole);
  }
}

TEST(Trainer, SoHasOneThatIsInterruptedAfterEveryStep) {
  const std::string whole = TrainedAtOnce();
  const std::string path = TestPath("every");
  unlink(path.c_str());
  for (int64_t step = 1; step <= kSteps; ++step) {
    StopsAfter one(step);
    ASSERT_EQ(*TrainOn(path, one), TrainingEnd::kStopped);
    ASSERT_EQ(one.losses.size(), 1u);
  }
  // Nothing is left to do.
  StopsAfter none(0);
  EXPECT_EQ(*TrainOn(path, none), TrainingEnd::kDone);
  EXPECT_TRUE(none.losses.empty());
  EXPECT_EQ(FileContent(path), whole);
}

TEST(Trainer, TheBitsAreThoseOfAnyNumberOfWorkers) {
  const std::string whole = TrainedAtOnce();  // by one
  const std::string path = TestPath("workers");
  std::vector<Evaluation> evaluations;
  for (const int workers : {1, 3}) {
    SCOPED_TRACE(workers);
    const auto session = VirtualSession(SharedPlan());
    TrainerOptions options = Options(path);
    options.workers = workers;
    const auto trainer = Trainer::Create(*session, Images(), options);
    ASSERT_TRUE(trainer.ok()) << trainer.status();
    StopsAfter never(0);
    EXPECT_EQ(*(*trainer)->Run(never), TrainingEnd::kDone);
    EXPECT_EQ(FileContent(path), whole);
    const auto test =
        Evaluate(*session, Images(51, 2), kBatch, NeverStops, workers);
    ASSERT_TRUE(test.ok()) << test.status();
    evaluations.push_back(*test);
  }
  EXPECT_EQ(evaluations[0].loss, evaluations[1].loss);
  EXPECT_EQ(evaluations[0].correct, evaluations[1].correct);
}

std::vector<double> LossesOf(const std::shared_ptr<const Plan>& plan,
                             const std::string& checkpoint) {
  unlink(checkpoint.c_str());
  StopsAfter never(0);
  const auto end = TrainOn(checkpoint, never, plan);
  EXPECT_TRUE(end.ok()) << end.status();
  return never.losses;
}

TEST(Trainer, SeveralDevicesTrainAsOneDoesAndAreResumedToTheBit) {
  const std::string path = TestPath("divided");
  const std::vector<double> losses = LossesOf(PlanOnThreeDevices(), path);
  const std::vector<double> alone = LossesOf(SharedPlan(), TestPath("alone"));
  ASSERT_EQ(losses.size(), alone.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    // Roundings grow from step to step.
    EXPECT_NEAR(losses[i], alone[i], 1e-3 * (1 + alone[i])) << "step " << i;
  }
  const std::string whole = FileContent(path);
  unlink(path.c_str());
  StopsAfter first(7), rest(0);
  EXPECT_EQ(*TrainOn(path, first, PlanOnThreeDevices()), TrainingEnd::kStopped);
  EXPECT_EQ(*TrainOn(path, rest, PlanOnThreeDevices()), TrainingEnd::kDone);
  EXPECT_EQ(FileContent(path), whole);
}

// What is left of the schedule is a function of the count of steps, which is a
// variable.
TEST(Trainer, ALearningRateThatFallsIsResumedToTheBit) {
  const auto plan = PlanOf(MnistTraining(
      {.batch = kBatch,
       .update = {.optimizer = {"adamw", 0, 0.1},
                  .schedule = {"cosine", 0.01, 0, kSteps, /*warm_up=*/4},
                  .clip_norm = 1}}));
  const std::string path = TestPath("falls");
  const std::vector<double> losses = LossesOf(plan, path);
  const std::string whole = FileContent(path);
  for (int64_t step : {2, 9}) {
    SCOPED_TRACE(step);
    unlink(path.c_str());
    StopsAfter first(step), rest(0);
    EXPECT_EQ(*TrainOn(path, first, plan), TrainingEnd::kStopped);
    EXPECT_EQ(*TrainOn(path, rest, plan), TrainingEnd::kDone);
    EXPECT_EQ(rest.losses,
              std::vector<double>(losses.begin() + step, losses.end()));
    EXPECT_EQ(FileContent(path), whole);
  }
}

// Goes on with the checkpoint by another plan until a step.
std::vector<double> LossesUntil(int64_t step, const std::string& checkpoint,
                                const std::shared_ptr<const Plan>& plan,
                                const std::string& plan_name) {
  const auto session = VirtualSession(plan);
  TrainerOptions options = Options(checkpoint);
  options.settings.back().value = plan_name;
  const auto trainer = Trainer::Create(*session, Images(), options);
  EXPECT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_EQ((*trainer)->Resume(checkpoint).code(),
            absl::StatusCode::kInvalidArgument);
  const absl::Status resumed =
      (*trainer)->Resume(checkpoint, ResumeOn::kAnotherPlan);
  EXPECT_TRUE(resumed.ok()) << resumed;
  EXPECT_TRUE((*trainer)->resumed_by_another_plan());
  StopsAfter observer(step);
  EXPECT_TRUE((*trainer)->Run(observer).ok());
  return observer.losses;
}

TEST(Trainer, ATrainingMayMoveToOtherDevicesAndBack) {
  const std::vector<double> alone = LossesOf(SharedPlan(), TestPath("alone"));
  const std::string path = TestPath("moves");
  unlink(path.c_str());
  StopsAfter first(5);
  EXPECT_EQ(*TrainOn(path, first), TrainingEnd::kStopped);
  std::vector<double> losses = first.losses;
  for (const double loss : LossesUntil(11, path, PlanOnThreeDevices(), "b")) {
    losses.push_back(loss);
  }
  EXPECT_EQ(losses.size(), 11u);
  for (const double loss : LossesUntil(0, path, SharedPlan(), "a")) {
    losses.push_back(loss);
  }
  ASSERT_EQ(losses.size(), alone.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(losses[i], alone[i], 1e-3 * (1 + alone[i])) << "step " << i;
  }
}

// Asks after every step whether the replicas of all variables are one.
class ComparesReplicas final : public TrainingObserver {
 public:
  explicit ComparesReplicas(Session& session) : session_(session) {}
  absl::Status OnStep(const TrainingStep& step) override {
    for (const Variable& variable : session_.plan().module.variables()) {
      PARTITA_ASSIGN_OR_RETURN(const auto replicas,
                               session_.ReadReplicas(variable.name));
      EXPECT_EQ(replicas.size(), 3u) << variable.name;
      for (const HostTensor& replica : replicas) {
        EXPECT_EQ(replica.byte_span(), replicas[0].byte_span())
            << variable.name << " after step " << step.step;
      }
    }
    return absl::OkStatus();
  }
  absl::Status OnEpoch(int64_t) override { return absl::OkStatus(); }
  bool WantsStop() override { return false; }

 private:
  Session& session_;
};

TEST(Trainer, ReplicasAreOneAfterEveryStepAlsoOfAResumedTraining) {
  const std::string path = TestPath("replicas");
  unlink(path.c_str());
  StopsAfter first(3);
  ASSERT_EQ(*TrainOn(path, first, PlanOnThreeDevices()), TrainingEnd::kStopped);
  const auto session = VirtualSession(PlanOnThreeDevices());
  const auto trainer = Trainer::Create(*session, Images(), Options(path));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  ASSERT_TRUE((*trainer)->Resume(path).ok());
  ComparesReplicas compares(*session);
  EXPECT_EQ(*(*trainer)->Run(compares), TrainingEnd::kDone);
}

TEST(Trainer, CheckpointsAreWrittenEverySoManySteps) {
  const std::string path = TestPath("often");
  const auto session = VirtualSession(SharedPlan());
  TrainerOptions options = Options(path);
  options.every = 4;
  // Whether a new file is there by the end of each step.
  class Watch final : public TrainingObserver {
   public:
    explicit Watch(std::string path) : path_(std::move(path)) {}
    absl::Status OnStep(const TrainingStep& step) override {
      if (unlink(path_.c_str()) == 0) written.push_back(step.step);
      return absl::OkStatus();
    }
    absl::Status OnEpoch(int64_t) override { return absl::OkStatus(); }
    bool WantsStop() override { return false; }
    std::vector<int64_t> written;  // steps done by then

   private:
    const std::string path_;
  };
  unlink(path.c_str());
  Watch watch(path);
  const auto trainer = Trainer::Create(*session, Images(), options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  ASSERT_TRUE((*trainer)->Run(watch).ok());
  EXPECT_EQ(watch.written, (std::vector<int64_t>{4, 8, 12, 16}));
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
}

TEST(Trainer, WhatIsTrainedTellsTheImagesApart) {
  const auto session = VirtualSession(PlanOf(
      MnistTraining({.batch = kBatch, .update = Sgd(0.02), .dropout = 0.1})));
  const SharedDataset test = Images(51, 2);
  TrainerOptions options = Options("");
  options.epochs = 4;
  const auto trainer = Trainer::Create(*session, Images(200), options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  ASSERT_TRUE((*trainer)->Run(never).ok());
  const auto after = Evaluate(*session, test, kBatch);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->samples, 51);
  EXPECT_GT(after->accuracy(), 0.8);
  EXPECT_LT(after->loss, 1);
}

// With this rate the weights leave all bounds at the first step.
absl::StatusOr<TrainingEnd> Diverge(bool stop_at_nan, StopsAfter& observer) {
  const auto session = VirtualSession(
      PlanOf(MnistTraining({.batch = kBatch, .update = Sgd(1e30)})));
  TrainerOptions options = Options("");
  options.stop_at_nan = stop_at_nan;
  PARTITA_ASSIGN_OR_RETURN(const auto trainer,
                           Trainer::Create(*session, Images(), options));
  return trainer->Run(observer);
}

TEST(Trainer, ALossThatIsNoNumberEndsTheTrainingAtItsStep) {
  StopsAfter never(0);
  EXPECT_EQ(Diverge(true, never).status().message(),
            "step 2 (epoch 1 batch 2): found loss nan; expected a finite "
            "number; lower the learning rate, or go on by --nan continue");
  EXPECT_EQ(never.losses.size(), 2u);
}

// Image 3 has a pixel that is no number.
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

TEST(Trainer, ASampleThatIsNoNumberIsToldByItsFile) {
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

TEST(Trainer, ASampleOfAnEarlierBatchIsToldToo) {
  const SharedDataset images = ImagesWithNan();
  EXPECT_EQ(*FindNotFiniteSample(*images),
            absl::StrCat(images->fields()[0].source,
                         ": sample 3: images: nan; expected finite numbers"));
  EXPECT_EQ(*FindNotFiniteSample(*Images(kBatch)), "");
}

// Labels of -100 are not known, nor are those that fill the last batch up.
TEST(Trainer, AStepTellsOverHowManyLabelsItsLossIs) {
  const SharedDataset images = Images();
  const auto unknown =
      TransformField(images, kLabelField, images->fields()[1].type,
                     [](int64_t sample, const std::byte* from, std::byte* to) {
                       std::memcpy(to, from, sizeof(int64_t));
                       if (sample % 3 == 0)
                         *reinterpret_cast<int64_t*>(to) = kIgnoredLabel;
                       return absl::OkStatus();
                     });
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  const auto session = VirtualSession(SharedPlan());
  TrainerOptions options = Options("");
  options.epochs = 1;
  const auto trainer = Trainer::Create(*session, *unknown, options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  ASSERT_TRUE((*trainer)->Run(never).ok());
  EXPECT_EQ(never.samples, kSamples);
  EXPECT_EQ(never.labels, kSamples - 15);
}

// The first loss is that of weights that were still good.
TEST(Trainer, WeightsThatAreNoNumbersDoNotReplaceACheckpoint) {
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

TEST(Trainer, ACheckpointOfNoNumbersIsToldWhenItGoesOn) {
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

// As a signal that comes while the epoch's weights are evaluated.
TEST(Trainer, AStopWhileTheEpochIsToldIsHeard) {
  class StopsInEpoch final : public TrainingObserver {
   public:
    absl::Status OnStep(const TrainingStep&) override {
      ++steps;
      return absl::OkStatus();
    }
    absl::Status OnEpoch(int64_t) override {
      stops_ = true;
      return absl::OkStatus();
    }
    bool WantsStop() override { return stops_; }
    int64_t steps = 0;

   private:
    bool stops_ = false;
  };
  const std::string path = TestPath("epoch");
  unlink(path.c_str());
  const auto session = VirtualSession(SharedPlan());
  const auto trainer = Trainer::Create(*session, Images(), Options(path));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  StopsInEpoch stops;
  EXPECT_EQ(*(*trainer)->Run(stops), TrainingEnd::kStopped);
  EXPECT_EQ(stops.steps, (*trainer)->steps_per_epoch());
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
}

// Where it can be told no more, as on a full disk, what was trained is kept.
TEST(Trainer, AnObserverThatFailsCostsNoStep) {
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
  const std::string path = TestPath("told");
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

TEST(Trainer, AnEvaluationMayBeStopped) {
  const auto session = VirtualSession(SharedPlan());
  int asked = 0;
  const auto stopped = Evaluate(*session, Images(5 * kBatch), kBatch,
                                [&] { return ++asked == 3; });
  EXPECT_TRUE(absl::IsCancelled(stopped.status())) << stopped.status();
  EXPECT_EQ(asked, 3);
}

TEST(Trainer, OrNotIfItIsToGoOn) {
  StopsAfter never(0);
  const auto end = Diverge(false, never);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, TrainingEnd::kDone);
  EXPECT_EQ(never.losses.size(), kSteps);
}

TEST(Trainer, AFullDiskIsToldWithTheStep) {
  StopsAfter never(0);
  const auto session = VirtualSession(SharedPlan());
  const auto trainer =
      Trainer::Create(*session, Images(), Options("/dev/full"));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_EQ((*trainer)->Run(never).status().message(),
            "checkpoint after step 6: /dev/full: cannot be written: No space "
            "left on device; make room there, or name a file on another disk");
}

// While it is there no file of this process grows further.
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

TEST(Trainer, ACheckpointOutlivesTheNextOneThatHasNoRoom) {
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

TEST(Trainer, APositionThatNoTrainingHasIsRefused) {
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

TEST(Trainer, AnEndBeforeTheCheckpointIsRefused) {
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

TEST(Trainer, AFolderThatIsNotThereIsToldBeforeTheFirstStep) {
  const auto session = VirtualSession(SharedPlan());
  EXPECT_EQ(Trainer::Create(*session, Images(), Options("/lost/x"))
                .status()
                .message(),
            "/lost/x: cannot be created: No such file or directory; make the "
            "folder, or name a file in another");
}

TEST(Trainer, ADatasetOfOtherImagesIsRefused) {
  const auto session = VirtualSession(SharedPlan());
  TrainerOptions options = Options("");
  options.batch_size = 4;
  EXPECT_EQ(Trainer::Create(*session, Images(), options).status().message(),
            absl::StrCat(Images()->fields()[0].source,
                         ": field images: found batches f32[4, 1, 28, 28]; "
                         "expected f32[8, 1, 28, 28]; give the dataset that "
                         "the model was made for"));
}

TEST(Trainer, ALabelThatIsNoClassIsToldByItsSample) {
  const ImageFiles files = WriteBarImages(TestPath("bad"), 5, 1);
  std::fstream labels(files.labels,
                      std::ios::in | std::ios::out | std::ios::binary);
  labels.seekp(8 + 3);  // behind the header
  labels.put(11);
  labels.close();
  const auto dataset = OpenLabelledImages(Described(files));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(HashDataset(**dataset).status().message(),
            "sample 3: labels: found label 11; expected 0..9 or -100; correct "
            "the dataset or the number of classes");
}

TEST(Trainer, DatasetsOfOtherSamplesHaveOtherHashes) {
  const auto hash = [](int64_t samples, uint64_t seed) {
    return HashDataset(*Images(samples, seed))->ToString();
  };
  EXPECT_EQ(hash(5, 1), hash(5, 1));
  EXPECT_NE(hash(5, 1), hash(6, 1));
  EXPECT_NE(hash(5, 1), hash(5, 2));
}

}  // namespace
}  // namespace partita
