// Trainings for tests: on virtual devices, interrupted and resumed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TESTING_TEST_TRAINING_H_
#define PARTITA_PARTITA_TRAIN_TESTING_TEST_TRAINING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/session.h"
#include "partita/train/trainable_model.h"
#include "partita/train/trainer.h"
#include "runtime/plan/plan.h"

namespace partita {

// In the test's own folder.
std::string TestPath(const std::string& name);
std::string FileContent(const std::string& path);

// For equal CPUs; fails the test if it does not compile.
std::shared_ptr<const Plan> PlanOf(absl::StatusOr<Module> module,
                                   const std::string& strategy = "single",
                                   int devices = 1);
std::unique_ptr<Session> VirtualSession(std::shared_ptr<const Plan> plan);

// Stops after a step, counted from 1 over the whole training; 0: never.
class StopsAfter final : public TrainingObserver {
 public:
  explicit StopsAfter(int64_t step) : step_(step) {}
  absl::Status OnStep(const TrainingStep& step) override;
  absl::Status OnEpoch(int64_t epoch) override;
  bool WantsStop() override { return done_ == step_; }

  std::vector<double> losses;
  std::vector<int64_t> epochs;
  int64_t samples = 0;
  int64_t labels = 0;

 private:
  const int64_t step_;
  int64_t done_ = 0;
};

// A new session trains the model for this many epochs, from the checkpoint if
// there is one, until the observer stops it.
absl::Status TrainOn(const std::shared_ptr<const Plan>& plan,
                     const TrainableModel& model, int64_t epochs,
                     const std::string& checkpoint, TrainingObserver& observer);

// A training of two epochs that is interrupted after this step must write the
// checkpoint, byte for byte, of an uninterrupted one.
void ExpectResumesToTheBit(const std::shared_ptr<const Plan>& plan,
                           const TrainableModel& model, int64_t step);

// The export with this batch must have it in every input of @evaluate, and read
// only variables of the training.
void ExpectRebatched(const TrainableModel& model, int64_t batch);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TESTING_TEST_TRAINING_H_
