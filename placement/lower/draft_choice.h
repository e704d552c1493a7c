// Which drafts of its functions a plan takes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DRAFT_CHOICE_H_
#define PARTITA_PLACEMENT_LOWER_DRAFT_CHOICE_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/lower/function_draft.h"
#include "placement/lower/launch_order.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/step_predictor.h"
#include "placement/machine/machine.h"

namespace partita {

// A function whose memory is counted, on its way to a plan.
struct CountedFunction {
  const Graph* graph = nullptr;
  int number = 0;  // in its module
  StepPredictor predict;
  FunctionDraft fast;
  // For the other goals. Made where drafts before them are short of memory, or
  // for LeastMemory.
  std::optional<FunctionDraft> least_peak;
  std::optional<FunctionDraft> small;
};

// Asks for the drafts that need least on the device that needs most, among
// those whose step is within a limit.
struct LeastMemory {
  double most_step_seconds = std::numeric_limits<double>::infinity();
};

// Less is better, in the order of the fields.
struct DraftsScore {
  int64_t missing = 0;  // bytes on the device that lacks most; 0: they fit
  // Only for LeastMemory: the seconds beyond its limit (infinite if a step was
  // not predicted), and the bytes on the device that needs most.
  double late = 0;
  int64_t bytes = 0;

  friend auto operator<=>(const DraftsScore&, const DraftsScore&) = default;
};

// `needed`: NeededBytes of the drafts.
DraftsScore ScoreOf(absl::Span<FunctionDraft* const> drafts,
                    const IdVector<MachineDeviceId, int64_t>& needed,
                    const Machine& machine,
                    const std::optional<LeastMemory>& least_memory);

// The goals after `goal` whose drafts differ from those before, in order.
std::vector<DraftGoal> SmallerGoals(
    DraftGoal goal, absl::Span<CountedFunction* const> functions);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DRAFT_CHOICE_H_
