// How well a model that was trained tells classes apart.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_EVALUATION_H_
#define PARTITA_PARTITA_TRAIN_EVALUATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "partita/session.h"
#include "runtime/dataset/dataset.h"

namespace partita {

struct Evaluation {
  int64_t samples = 0;
  int64_t correct = 0;  // the class of the largest log-probability is the label
  double loss = 0;      // the mean of minus the label's log-probability

  double accuracy() const {
    return static_cast<double>(correct) / static_cast<double>(samples);
  }
};

// Runs the entry `evaluate` over all samples, in batches of `batch_size`: its
// inputs are fields of the dataset by name, its output `log_probabilities` is
// f32[batch_size, classes]. The session is left at that entry.
absl::StatusOr<Evaluation> Evaluate(Session& session, SharedDataset dataset,
                                    int64_t batch_size);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_EVALUATION_H_
