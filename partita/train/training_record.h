// What a training has done: steps, epochs, evaluations.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TRAINING_RECORD_H_
#define PARTITA_PARTITA_TRAIN_TRAINING_RECORD_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "partita/train/evaluation.h"

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

struct EpochRecord {
  int64_t epoch = 0;    // from 0
  TrainedSpan trained;  // after the start of this run
  std::optional<Evaluation> test;
};

// For f16 training, at its end.
struct LossScaleRecord {
  double scale = 1;
  int64_t skipped_steps = 0;  // those of previous runs included
};

struct TrainingRecord {
  int64_t epochs = 0;  // requested
  int64_t steps_per_epoch = 0;
  int64_t first_step = 0;        // where this run began
  bool by_another_plan = false;  // than that of the checkpoint
  int64_t step = 0;              // finished steps, including previous runs
  std::vector<EpochRecord> finished;
  TrainedSpan trained;             // of this run
  double seconds_waited = 0;       // of that, for reading the dataset
  std::optional<Evaluation> test;  // of the weights at the end
  std::optional<LossScaleRecord> loss_scale;
  bool interrupted = false;
  std::string trace;  // the last step's timeline, if requested

  int64_t num_steps() const { return epochs * steps_per_epoch; }
};

// NaN without its sign, which has no meaning.
inline double WithoutSignOfNan(double loss) {
  return std::isnan(loss) ? std::fabs(loss) : loss;
}

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINING_RECORD_H_
