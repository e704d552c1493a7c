// What a training says of itself, for people and for programs.
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

// What was done in one go: of an epoch, or of all of them.
struct TrainedSpan {
  int64_t steps = 0;
  int64_t samples = 0;
  // Of the steps whose loss was a finite number.
  int64_t labels = 0;   // that were known
  double loss_sum = 0;  // over them
  int64_t num_nan = 0;  // the other steps
  double seconds = 0;   // without evaluation

  // The mean over the labels; NaN if no step had a finite one.
  double loss() const { return loss_sum / static_cast<double>(labels); }
  double samples_per_second() const {
    return static_cast<double>(samples) / seconds;
  }
};

struct EpochReport {
  int64_t epoch = 0;    // from 0
  TrainedSpan trained;  // behind where this run began
  std::optional<Evaluation> test;
};

// Of a training in f16, at its end.
struct LossScaleReport {
  double scale = 1;
  int64_t skipped_steps = 0;  // those before this run included
};

struct TrainReport {
  std::string model;
  std::string strategy;
  std::vector<std::string> devices;  // that compute a part of the step
  Fallbacks fallbacks;
  double step_seconds = 0;                        // of a step, predicted
  double repeated_share = 0;                      // EntryReport's
  std::optional<DividedUpdates> divided_updates;  // EntryReport's
  std::string sample_noun;                        // "image"
  int64_t samples = 0;                            // of the dataset
  std::vector<std::string> class_names;  // by label; empty: labels are numbers
  int batch_norm_parts = 1;              // TrainableModel's
  std::string notice;                    // of the session; may be empty
  std::vector<ReplacedKernel> replaced_kernels;
  int64_t epochs = 0;  // asked for
  int64_t steps_per_epoch = 0;
  int64_t first_step = 0;        // where this run began
  bool by_another_plan = false;  // than the checkpoint's that it goes on with
  int64_t step = 0;              // steps done, those before this run included
  std::vector<EpochReport> finished;
  TrainedSpan trained;             // of this run
  double seconds_waited = 0;       // of that, for the dataset to be read
  std::optional<Evaluation> test;  // of the weights at the end
  std::optional<LossScaleReport> loss_scale;
  bool interrupted = false;
  bool untraced = false;   // a trace was asked for, and no step was left to do
  std::string checkpoint;  // path, if one was written
  std::string exported;    // path, if the trained model was written
  std::string generated;   // by the trained model; empty: nothing
  std::string trace;       // the last step's timeline, if it was asked for

  int64_t num_steps() const { return epochs * steps_per_epoch; }
};

// Of a NaN no sign, which says nothing.
double WithoutSignOfNan(double loss);

// By whose statistics they go, where that is not by the whole batch's.
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
