// Compares placements.
// SPDX-License-Identifier: Apache-2.0

#include "partita/latest_predictions.h"

#include <cstddef>
#include <utility>

namespace partita {
namespace {

// Of each of a few strategies, the drafts among which it chose.
constexpr size_t kMostKnown = 12;

}  // namespace

const PredictedDraft* LatestPredictions::Find(
    absl::Span<const Placement> placements) const {
  for (const Known& known : latest_) {
    if (absl::MakeConstSpan(known.placements) == placements) {
      return &known.predicted;
    }
  }
  return nullptr;
}

void LatestPredictions::Add(absl::Span<const Placement> placements,
                            PredictedDraft predicted) {
  if (latest_.size() == kMostKnown) latest_.pop_front();
  latest_.push_back(
      {{placements.begin(), placements.end()}, std::move(predicted)});
}

}  // namespace partita
