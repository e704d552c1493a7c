// The training loop: batches through a step, checkpoints, the way back.
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
  // What becomes of an epoch's last batch that is not whole: it is filled up
  // with samples that have no part in the loss, or left out.
  bool drop_last = false;
  int workers = 1;  // threads that read batches ahead; the numbers are the same
  // A loss that is no finite number ends the training with an error, as does a
  // variable that has become one when it is to be kept; else both are taken
  // like any other.
  bool stop_at_nan = true;
  std::string checkpoint;  // path; empty: none
  int64_t every = 0;       // steps from one to the next; 0: an epoch
  RunOptions run;          // of each step
  std::vector<TrainingSetting> settings;  // what a checkpoint holds against
};

// A step that was just done.
struct TrainingStep {
  int64_t epoch = 0;  // from 0
  int64_t batch = 0;  // in its epoch, from 0
  int64_t step = 0;   // from 0, over all epochs
  double loss = 0;
  int64_t samples = 0;  // that count
  // Known labels of theirs, one a sample or more, over which the loss is a
  // mean; the samples if the dataset has no labels.
  int64_t labels = 0;
};

// Whom a training tells how it goes. Errors end it, with a checkpoint.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual absl::Status OnStep(const TrainingStep& step) = 0;
  // After an epoch's last step; may run the session's other entries.
  virtual absl::Status OnEpoch(int64_t epoch) = 0;
  // Asked after each step, and behind OnEpoch. Where it says yes, the training
  // writes its checkpoint and ends.
  virtual bool WantsStop() = 0;
};

enum class TrainingEnd {
  kDone,     // all epochs
  kStopped,  // the observer wanted it
};

// Runs the entry `train` once a batch: its inputs are fields of the dataset by
// name, with the batch as dimension 0, its output `loss` is an f32 scalar.
// Samples that only fill a batch up are labelled kIgnoredLabel.
//
// A training that was interrupted and resumed, however often, does the same
// steps over the same batches from the same variables as one that was not, and
// so has the same bits, provided that the step is a function of its inputs and
// variables, as every plan's is; resumed by another plan, the same numbers but
// for rounding.
class Trainer {
 public:
  // InvalidArgument if dataset and entry do not fit together. The session stays
  // the caller's and is for the trainer alone between two calls to an observer.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(
      Session& session, SharedDataset dataset, TrainerOptions options);

  // Continues the training of this checkpoint. InvalidArgument if it has gone
  // further than this one goes.
  absl::Status Resume(const std::string& path,
                      ResumeOn resume_on = ResumeOn::kSamePlan);

  // Ends with a checkpoint if a path is given, unless a step failed, or what it
  // made is not to be kept.
  absl::StatusOr<TrainingEnd> Run(TrainingObserver& observer);

  const TrainingPosition& position() const { return position_; }
  // Whether Resume took a checkpoint of another plan.
  bool resumed_by_another_plan() const { return resumed_by_another_plan_; }
  // How long the steps of Run have waited for their batches.
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
  // Of a loss that is no finite number, and what is to be done.
  absl::StatusOr<std::string> FaultOf(const LoadedBatch& batch) const;
  void Advance();
  // Writes one if the position is not that of the last.
  absl::Status KeepCheckpoint();
  // The same, if this run has done a step: `failure`, which is of what is
  // around the steps, with what became of them.
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
  int64_t kept_step_ = -1;               // of the last checkpoint; -1: none yet
  std::vector<std::string> not_finite_;  // variables, as Run began
};

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINER_H_
