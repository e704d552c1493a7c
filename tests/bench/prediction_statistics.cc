// Computes errors and rank correlations.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/prediction_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace partita {
namespace {

// From 1; equal values have the mean of their ranks.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    const double rank = 1 + (static_cast<double>(begin + end) - 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = Mean(a);
  const double mean_b = Mean(b);
  double product = 0;
  double square_a = 0;
  double square_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (square_a == 0 || square_b == 0) return 0;
  return product / std::sqrt(square_a * square_b);
}

}  // namespace

double RelativeError(const PredictedSeconds& pair) {
  return std::abs(pair.predicted - pair.measured) / pair.measured;
}

PredictionErrors ErrorsOf(absl::Span<const PredictedSeconds> pairs) {
  std::vector<double> errors;
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const PredictedSeconds& pair : pairs) {
    errors.push_back(RelativeError(pair));
    predicted.push_back(pair.predicted);
    measured.push_back(pair.measured);
  }
  return {.mean = Mean(errors),
          .worst = *std::max_element(errors.begin(), errors.end()),
          .spearman = Correlation(Ranks(predicted), Ranks(measured))};
}

}  // namespace partita
