// The training loop: batches through a step, checkpoints, resuming.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TRAINER_H_
#define PARTITA_PARTITA_TRAIN_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partita/session.h"
#include "partita/train/checkpoint.h"
#include "runtime/dataset/dataset.h"
#include "runtime/dataset/loader.h"
#include "runtime/dataset/sampler.h"

namespace partita {

struct TrainerOptions {
  int64_t batch_size = 1;  // of the step's inputs
  int64_t epochs = 1;
  uint64_t seed = 0;  // of the order of the samples
  // How an epoch's last, incomplete batch is treated: padded with samples that
  // do not count in the loss, or left out.
  bool drop_last = false;
  int workers = 1;  // threads that read batches ahead; no effect on the numbers
  // A loss that is not finite ends the training with an error, and so does such
  // a variable at a checkpoint. Otherwise both are accepted.
  bool stop_at_nan = true;
  std::string checkpoint;                 // path; empty: none
  int64_t every = 0;                      // steps between two; 0: an epoch
  RunOptions run;                         // of each step
  std::vector<TrainingSetting> settings;  // compared with the checkpoint's
};

// A finished step.
struct TrainingStep {
  int64_t epoch = 0;  // from 0
  int64_t batch = 0;  // in its epoch, from 0
  int64_t step = 0;   // from 0, over all epochs
  double loss = 0;
  int64_t samples = 0;  // those that count
  // Known labels of these samples, one for each or more; the loss is the mean
  // over them. The number of samples if the dataset has no labels.
  int64_t labels = 0;
};

// Receives a training's progress. Errors end the training, with a checkpoint.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual absl::Status OnStep(const TrainingStep& step) = 0;
  // After an epoch's last step; may run the session's other entries.
  virtual absl::Status OnEpoch(int64_t epoch) = 0;
  // Called after each step, and after OnEpoch. If true, the training writes its
  // checkpoint and ends.
  virtual bool WantsStop() = 0;
};

enum class TrainingEnd {
  kDone,     // all epochs
  kStopped,  // the observer wanted to stop
};

// Runs the entry `train` for each batch. Its inputs are fields of the dataset
// by name, with the batch as dimension 0; its output `loss` is an f32 scalar.
// Padding is labelled kIgnoredLabel.
//
// A training that is interrupted and resumed, however often, does the same
// steps over the same batches from the same variables as an uninterrupted one,
// so it has the same bits, because a step is a function of its inputs and
// variables. Resumed with another plan, it has the same numbers except for
// rounding.
class Trainer {
 public:
  // InvalidArgument if dataset and entry do not match. The caller keeps
  // ownership of the session, which only the trainer may use between two calls
  // to an observer.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(
      Session& session, SharedDataset dataset, TrainerOptions options);

  // Continues the training of this checkpoint. InvalidArgument if the
  // checkpoint is past the end of this training.
  absl::Status Resume(const std::string& path,
                      ResumeOn resume_on = ResumeOn::kSamePlan);

  // Ends with a checkpoint if a path is given, unless a step failed, or its
  // result must not be kept.
  absl::StatusOr<TrainingEnd> Run(TrainingObserver& observer);

  const TrainingPosition& position() const { return position_; }
  // True if Resume read a checkpoint of another plan.
  bool resumed_by_another_plan() const { return resumed_by_another_plan_; }
  // The time for which the steps of Run waited for their batches.
  double seconds_waited() const { return seconds_waited_; }
  int64_t steps_per_epoch() const { return sampler_.num_batches(); }
  int64_t num_steps() const { return options_.epochs * steps_per_epoch(); }

 private:
  Trainer(Session& session, SharedDataset dataset, const Sampler& sampler,
          TrainerOptions options);
  absl::Status CheckInputs() const;
  absl::StatusOr<TrainingEnd> RunBatches(Loader& loader,
                                         TrainingObserver& observer);
  absl::StatusOr<TrainingStep> Step(LoadedBatch& batch);
  absl::Status CheckLoss(const TrainingStep& step,
                         const LoadedBatch& batch) const;
  // Describes a loss that is not finite, with a remedy.
  absl::StatusOr<std::string> FaultOf(const LoadedBatch& batch) const;
  void Advance();
  // Writes one if the position is not that of the last.
  absl::Status KeepCheckpoint();
  // The same, if this run has done a step: `failure`, an error outside the
  // steps, with the result of the checkpoint.
  absl::Status KeepDespite(const absl::Status& failure);
  absl::Status CheckVariables() const;
  bool IsCheckpointDue() const;

  Session& session_;
  const SharedDataset dataset_;
  const Sampler sampler_;
  const TrainerOptions options_;
  TrainingPosition position_;
  bool resumed_by_another_plan_ = false;
  double seconds_waited_ = 0;
  int64_t first_step_ = 0;               // of this run
  int64_t kept_step_ = -1;               // of the last checkpoint; -1: none
  std::vector<std::string> not_finite_;  // variables, at the start of Run
};

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINER_H_
