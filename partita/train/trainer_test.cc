// Interrupted and resumed trainings have the bits of an uninterrupted one.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/trainer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "partita/train/dataset_hash.h"
#include "partita/train/evaluation.h"
#include "partita/train/testing/bar_training.h"
#include "partita/train/testing/test_training.h"
#include "runtime/dataset/transform.h"

namespace partita {
namespace {

// Shards of two, three and three images.
std::shared_ptr<const Plan> PlanOnThreeDevices() {
  static const std::shared_ptr<const Plan>& plan = *new auto(
      PlanOf(MnistTraining({.batch = kBatch, .update = Sgd(0.02)}), "data", 3));
  return plan;
}

// Of 43 samples in batches of 8, each epoch leaves out three, different ones
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
  const std::string whole = TrainedAtOnce();  // on one device
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
  const std::string path = TestPath("sharded");
  const std::vector<double> losses = LossesOf(PlanOnThreeDevices(), path);
  const std::vector<double> alone = LossesOf(SharedPlan(), TestPath("alone"));
  ASSERT_EQ(losses.size(), alone.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    // Rounding differences grow from step to step.
    EXPECT_NEAR(losses[i], alone[i], 1e-3 * (1 + alone[i])) << "step " << i;
  }
  const std::string whole = FileContent(path);
  unlink(path.c_str());
  StopsAfter first(7), rest(0);
  EXPECT_EQ(*TrainOn(path, first, PlanOnThreeDevices()), TrainingEnd::kStopped);
  EXPECT_EQ(*TrainOn(path, rest, PlanOnThreeDevices()), TrainingEnd::kDone);
  EXPECT_EQ(FileContent(path), whole);
}

// The rest of the schedule is a function of the count of steps, which is a
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

// Continues the checkpoint with another plan until a step.
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

// Checks after every step that the replicas of all variables are equal.
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
  // Records whether a new file exists at the end of each step.
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

TEST(Trainer, TheTrainedModelClassifiesTheImages) {
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

// Labels of -100 are unknown, and so are those of padding.
TEST(Trainer, AStepReportsTheNumberOfLabelsOfItsLoss) {
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

// Like a signal during the evaluation of the epoch's weights.
TEST(Trainer, AStopDuringTheEpochsReportIsObeyed) {
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

TEST(Trainer, AnEvaluationMayBeStopped) {
  const auto session = VirtualSession(SharedPlan());
  int asked = 0;
  const auto stopped = Evaluate(*session, Images(5 * kBatch), kBatch,
                                [&] { return ++asked == 3; });
  EXPECT_TRUE(absl::IsCancelled(stopped.status())) << stopped.status();
  EXPECT_EQ(asked, 3);
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
