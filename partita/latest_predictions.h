// The latest predictions of one function's drafts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_LATEST_PREDICTIONS_H_
#define PARTITA_PARTITA_LATEST_PREDICTIONS_H_

#include <deque>
#include <vector>

#include "absl/types/span.h"
#include "graph/placement.h"
#include "placement/planner/planner.h"

namespace partita {

// Strategies ask about a draft when they make it, and a search again when it
// compares it with others. To partition a graph and to take its fingerprint
// costs more than to compare a few lists of placements.
class LatestPredictions {
 public:
  // Null if it was not predicted, or long ago.
  const PredictedDraft* Find(absl::Span<const Placement> placements) const;
  void Add(absl::Span<const Placement> placements, PredictedDraft predicted);

 private:
  struct Known {
    std::vector<Placement> placements;  // by node id
    PredictedDraft predicted;
  };

  std::deque<Known> latest_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_LATEST_PREDICTIONS_H_
