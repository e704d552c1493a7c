// Records a training: evaluates after each epoch, writes the table of losses.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TRAINING_RECORDER_H_
#define PARTITA_PARTITA_TRAIN_TRAINING_RECORDER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partita/session.h"
#include "partita/train/loss_table.h"
#include "partita/train/trainer.h"
#include "partita/train/training_record.h"
#include "runtime/dataset/dataset.h"

namespace partita {

// What a caller hears of a training; each may be empty. The record has the
// event already.
struct TrainingEvents {
  std::function<void(double loss)> on_step;
  std::function<void()> on_evaluation;  // before one begins
  // An error ends the training, with a checkpoint.
  std::function<absl::Status(const EpochRecord& epoch)> on_epoch;
  // TrainingObserver::WantsStop, also asked before each batch of an evaluation.
  std::function<bool()> wants_stop;
};

struct RecorderOptions {
  Session* session = nullptr;  // trains, and evaluates `test`
  SharedDataset test;          // null: no evaluation
  int64_t batch_size = 0;      // of `test`
  int workers = 1;             // that read it
  LossTable* table = nullptr;  // null: none
  bool traces = false;         // keeps the last step's timeline
};

// Everything that the constructor takes by reference must outlive this.
class TrainingRecorder final : public TrainingObserver {
 public:
  TrainingRecorder(const RecorderOptions& options, const TrainingEvents& events,
                   TrainingRecord& record);

  absl::Status OnStep(const TrainingStep& step) override;
  absl::Status OnEpoch(int64_t epoch) override;
  bool WantsStop() override;
  // After the last step. Evaluates its weights, unless OnEpoch just did, or the
  // record says that the training was interrupted.
  absl::Status End();

 private:
  using Clock = std::chrono::steady_clock;
  absl::StatusOr<std::optional<Evaluation>> Test();
  // Of the last step, unless the session has evaluated since.
  absl::Status KeepTrace();
  absl::Status AddRow(const TrainingStep& step);
  // Since the previous step, or since the training began or continued.
  double SecondsOfStep();

  const RecorderOptions options_;
  const TrainingEvents& events_;
  TrainingRecord& record_;
  TrainedSpan epoch_;           // so far
  bool has_evaluated_ = false;  // since the last step
  Clock::time_point step_began_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINING_RECORDER_H_
