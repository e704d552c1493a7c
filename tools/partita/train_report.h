// The report of a training, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_REPORT_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "partita/compile.h"
#include "partita/train/evaluation.h"
#include "runtime/executor/session_report.h"

namespace partita {

// A span of training: an epoch, or all of them.
struct TrainedSpan {
  int64_t steps = 0;
  int64_t samples = 0;
  // For the steps whose loss was finite.
  int64_t labels = 0;   // those that were known
  double loss_sum = 0;  // over them
  int64_t num_nan = 0;  // the other steps
  double seconds = 0;   // without evaluation

  // The mean over the labels; NaN if no step had a finite loss.
  double loss() const { return loss_sum / static_cast<double>(labels); }
  double samples_per_second() const {
    return static_cast<double>(samples) / seconds;
  }
};

struct EpochReport {
  int64_t epoch = 0;    // from 0
  TrainedSpan trained;  // after the start of this run
  std::optional<Evaluation> test;
};

// For f16 training, at its end.
struct LossScaleReport {
  double scale = 1;
  int64_t skipped_steps = 0;  // those of previous runs included
};

struct TrainReport {
  std::string model;
  std::string strategy;
  std::vector<std::string> devices;  // that compute a part of the step
  Fallbacks fallbacks;
  double step_seconds = 0;                        // of a step, predicted
  double repeated_share = 0;                      // EntryReport's
  std::optional<ShardedUpdates> sharded_updates;  // EntryReport's
  std::string sample_noun;                        // "image"
  int64_t samples = 0;                            // of the dataset
  std::vector<std::string> class_names;  // by label; empty: labels are numbers
  int batch_norm_parts = 1;              // TrainableModel's
  std::string notice;                    // the session's; may be empty
  std::vector<ReplacedKernel> replaced_kernels;
  int64_t epochs = 0;  // requested
  int64_t steps_per_epoch = 0;
  int64_t first_step = 0;        // where this run began
  bool by_another_plan = false;  // than that of the checkpoint
  int64_t step = 0;              // finished steps, including previous runs
  std::vector<EpochReport> finished;
  TrainedSpan trained;             // of this run
  double seconds_waited = 0;       // of that, for reading the dataset
  std::optional<Evaluation> test;  // of the weights at the end
  std::optional<LossScaleReport> loss_scale;
  bool interrupted = false;
  bool untraced = false;   // a trace was requested, but no step was left to do
  std::string checkpoint;  // path, if one was written
  std::string exported;    // path, if the trained model was written
  std::string generated;   // by the trained model; empty: nothing
  std::string trace;       // the last step's timeline, if requested

  int64_t num_steps() const { return epochs * steps_per_epoch; }
};

// NaN without its sign, which has no meaning.
double WithoutSignOfNan(double loss);

// Whose statistics batch norms use, if not the whole batch's.
std::string BatchNormsText(int parts);

// One line each.
std::string TrainBeginText(const TrainReport& report);
std::string EpochText(const EpochReport& epoch, const TrainReport& report);
std::string TrainEndText(const TrainReport& report);
// "[=====               ] epoch 2 of 5, step 1200 of 4690, loss 0.4123, 9123
// images/s, 0:32 left".
std::string TrainProgressText(const TrainReport& report, double loss);

std::string TrainJson(const TrainReport& report);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_REPORT_H_
