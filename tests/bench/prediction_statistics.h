// How good predictions are.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PREDICTION_STATISTICS_H_
#define PARTITA_TESTS_BENCH_PREDICTION_STATISTICS_H_

#include "absl/types/span.h"

namespace partita {

struct PredictedSeconds {
  double predicted = 0;
  double measured = 0;  // more than 0
};

// |predicted - measured| / measured.
double RelativeError(const PredictedSeconds& pair);

struct PredictionErrors {
  double mean = 0;  // of RelativeError
  double worst = 0;
  // Spearman's rank correlation of predicted and measured seconds, with the
  // mean rank for equal values; 0 if all of one side are equal, which ranks
  // nothing.
  double spearman = 0;
};

// Of at least one pair.
PredictionErrors ErrorsOf(absl::Span<const PredictedSeconds> pairs);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PREDICTION_STATISTICS_H_
