// Checks every number in the notes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/predicted_times.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Thirty years; in nanoseconds they still fit an int64.
constexpr double kMostSeconds = 1e9;

absl::Status CheckTime(absl::string_view what, double seconds, double least) {
  // A NaN fails both comparisons.
  if (seconds >= least && seconds <= kMostSeconds) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "notes: ", what, ": found ", seconds, " predicted seconds; expected ",
      least, " to ", kMostSeconds, "; compile the plan again"));
}

absl::Status CheckEntry(const EntryNotes& entry) {
  PARTITA_RETURN_IF_ERROR(CheckTime("step", entry.step_seconds, 0));
  PARTITA_RETURN_IF_ERROR(CheckTime("bound", entry.bound_seconds, 0));
  for (size_t i = 0; i < entry.nodes.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        CheckTime(absl::StrCat("node ", i), entry.nodes[i].seconds, 0));
  }
  for (size_t i = 0; i < entry.predicted.size(); ++i) {
    const CommandNote& note = entry.predicted[i];
    const std::string what = absl::StrCat("command ", i);
    PARTITA_RETURN_IF_ERROR(CheckTime(what, note.start_seconds, 0));
    PARTITA_RETURN_IF_ERROR(
        CheckTime(what, note.end_seconds, note.start_seconds));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPredictedTimes(const PlanNotes& notes) {
  for (const EntryNotes& entry : notes.entries) {
    PARTITA_RETURN_IF_ERROR(CheckEntry(entry));
  }
  return absl::OkStatus();
}

}  // namespace partita
