// Follows a training: rates, progress, the loss table, accuracies.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_LOG_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_LOG_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "partita/session.h"
#include "partita/train/trainer.h"
#include "runtime/dataset/dataset.h"
#include "tools/partita/interruption.h"
#include "tools/partita/loss_table.h"
#include "tools/partita/output.h"
#include "tools/partita/train_report.h"

namespace partita {

// Outputs of a log besides its report, and its source of interruptions; null if
// there is none.
struct TrainLogOptions {
  Session* session = nullptr;  // trains, and evaluates `test`
  SharedDataset test;
  int64_t batch_size = 0;  // of `test`
  int workers = 1;         // that read it
  LossTable* table = nullptr;
  const Interruption* interruption = nullptr;
  bool traces = false;        // keeps the last step's timeline
  bool tells_epochs = false;  // one line each, on standard output
};

// Fills `report`, whose head the caller has filled. `report` and `progress`
// must outlive this.
class TrainLog final : public TrainingObserver {
 public:
  TrainLog(const TrainLogOptions& options, Progress& progress,
           TrainReport& report);

  absl::Status OnStep(const TrainingStep& step) override;
  absl::Status OnEpoch(int64_t epoch) override;
  bool WantsStop() override;
  // After the last step. Evaluates its weights, unless OnEpoch just did.
  absl::Status End();

 private:
  using Clock = std::chrono::steady_clock;
  absl::StatusOr<std::optional<Evaluation>> Test();
  // Of the last step, unless the session has evaluated since.
  absl::Status KeepTrace();
  void ShowProgress(double loss);
  // Since the previous step, or since the training began or continued.
  double SecondsOfStep();

  const TrainLogOptions options_;
  Progress& progress_;
  TrainReport& report_;
  TrainedSpan epoch_;           // so far
  bool has_evaluated_ = false;  // since the last step
  Clock::time_point step_began_;
  Clock::time_point shown_;
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_LOG_H_
