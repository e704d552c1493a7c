// Compares drafts by memory.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/draft_choice.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "placement/lower/delayed_all_reduces.h"
#include "placement/lower/tasks.h"

namespace partita {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// Of one step of every function.
double StepSeconds(absl::Span<FunctionDraft* const> drafts) {
  double seconds = 0;
  for (const FunctionDraft* draft : drafts) {
    seconds += draft->step_seconds.value_or(kUnknown);
  }
  return seconds;
}

}  // namespace

DraftsScore ScoreOf(absl::Span<FunctionDraft* const> drafts,
                    const IdVector<MachineDeviceId, int64_t>& needed,
                    const Machine& machine,
                    const std::optional<LeastMemory>& least_memory) {
  DraftsScore score;
  int64_t most = 0;
  for (MachineDeviceId d : needed.ids()) {
    const int64_t usable = machine.devices[d.index].usable();
    score.missing = std::max(score.missing, needed[d] - usable);
    most = std::max(most, needed[d]);
  }
  if (!least_memory.has_value()) return score;
  score.bytes = most;
  const double seconds = StepSeconds(drafts);
  if (seconds > least_memory->most_step_seconds) {
    score.late = seconds - least_memory->most_step_seconds;
  }
  return score;
}

std::vector<DraftGoal> SmallerGoals(
    DraftGoal goal, absl::Span<CountedFunction* const> functions) {
  const auto is_larger = [](const CountedFunction* function) {
    return !function->fast.least_peak;
  };
  const auto overlaps = [](const CountedFunction* function) {
    return HasOverlappedCollectives(function->fast.draft) ||
           HasPortStreams(function->fast.draft);
  };
  std::vector<DraftGoal> goals;
  if (goal < DraftGoal::kLeastPeak && absl::c_any_of(functions, is_larger)) {
    goals.push_back(DraftGoal::kLeastPeak);
  }
  if (goal < DraftGoal::kSmall && absl::c_any_of(functions, overlaps)) {
    goals.push_back(DraftGoal::kSmall);
  }
  return goals;
}

}  // namespace partita
