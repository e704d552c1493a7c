// How well a model that was trained does on samples that it never saw.
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

// The output of `evaluate` says what is measured:
// * log_probabilities, f32[n, classes]: whether the class of the largest is the
//   label, and the mean of minus the label's own;
// * predictions, f32: the mean of squared differences to the labels.
inline constexpr char kLogProbabilities[] = "log_probabilities";
inline constexpr char kPredictions[] = "predictions";

struct Evaluation {
  int64_t samples = 0;
  int64_t labels = 0;  // of them: one a sample, or more
  std::optional<int64_t> correct;
  double loss = 0;  // the mean over the labels

  // Where `correct` is known.
  double accuracy() const {
    return static_cast<double>(*correct) / static_cast<double>(labels);
  }
};

// Runs the entry `evaluate` over all samples, in batches of `batch_size`: its
// inputs are fields of the dataset by name, the labels those of kLabelField, in
// the order of the output's elements or rows. Labels of kIgnoredLabel, and
// numbers that are NaN, have no part in it. The session is left at that entry.
// Cancelled once `wants_stop`, which is asked before each batch, says so.
// `workers` are threads that read ahead, for the same numbers.
inline bool NeverStops() { return false; }
absl::StatusOr<Evaluation> Evaluate(
    Session& session, SharedDataset dataset, int64_t batch_size,
    absl::FunctionRef<bool()> wants_stop = NeverStops, int workers = 1);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_EVALUATION_H_
