// Evaluates a trained model on a test set.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_EVALUATION_H_
#define PARTITA_PARTITA_TRAIN_EVALUATION_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "partita/session.h"
#include "runtime/dataset/dataset.h"

namespace partita {

// The output of `evaluate` decides the metric:
// * log_probabilities, f32[n, classes]: whether the largest is the label's
//   class, and the mean of minus the label's own;
// * predictions, f32: the mean of squared differences from the labels.
inline constexpr char kLogProbabilities[] = "log_probabilities";
inline constexpr char kPredictions[] = "predictions";

struct Evaluation {
  int64_t samples = 0;
  int64_t labels = 0;  // one for each sample, or more
  std::optional<int64_t> correct;
  double loss = 0;  // the mean over the labels

  // If `correct` is known.
  double accuracy() const {
    return static_cast<double>(*correct) / static_cast<double>(labels);
  }
};

// Runs the entry `evaluate` over all samples, in batches of `batch_size`. Its
// inputs are fields of the dataset by name. The labels are those of
// kLabelField, in the order of the output's elements or rows. Labels of
// kIgnoredLabel, and numbers that are NaN, do not count. Leaves the session at
// that entry. `wants_stop` is called before each batch; Cancelled if it returns
// true. `workers` threads read ahead, without an effect on the numbers.
inline bool NeverStops() { return false; }
absl::StatusOr<Evaluation> Evaluate(
    Session& session, SharedDataset dataset, int64_t batch_size,
    absl::FunctionRef<bool()> wants_stop = NeverStops, int workers = 1);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_EVALUATION_H_
