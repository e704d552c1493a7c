// Reports for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_REPORT_TEXT_H_
#define PARTITA_TOOLS_PARTITA_REPORT_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "partita/compile.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_file.h"

namespace partita {

// Placement, memory, predicted step and bound: a dozen lines. `written`: the
// weights of the plan file, if one was written.
std::string CompileSummary(const Compiled& compiled,
                           const std::optional<WrittenWeights>& written);
std::string CompileJson(const Compiled& compiled,
                        const std::optional<WrittenWeights>& written);

// A line about the nodes that only eval computes, and one about why none has
// generated code, if that is so; "" if there are no such nodes.
std::string FallbacksText(const Fallbacks& fallbacks);

// A line about an entry whose devices each compute most of it whole
// (EntryReport::repeated_share); "" if they shard it.
std::string RepeatedText(absl::string_view entry, double repeated_share);

// A line about how many weights of an entry have sharded updates
// (EntryReport::sharded_updates); "" if none was requested, or if it updates
// none.
std::string ShardedUpdatesText(absl::string_view entry,
                               const std::optional<ShardedUpdates>& updates);

// " in 4 micro-batches, gpipe, buckets of 1 MiB" after the name of the strategy
// (CompileReport::chosen_step); "" for the usual step.
std::string ChosenStepText(absl::string_view chosen_step);

// ", with pins" after the name of a strategy that placed the other nodes.
std::string PinsText(absl::string_view strategy, bool has_pins);

// The devices that compute a part of the entry.
std::vector<std::string> UsedDevices(const CompileReport& report, size_t entry);
// " on cpu:0", " over cpu:0, cpu:1", " over gpu:0 to gpu:7", " over 9 devices".
std::string UsedDevicesText(const std::vector<std::string>& devices);

// The gap of a step to its lower bound (placement/simulate/lower_bound.h).
double GapPercent(double step_seconds, double bound_seconds);
// "24.8 us (load of gpu:0); gap 12 %".
std::string BoundText(double step_seconds, double bound_seconds,
                      absl::string_view bound_by);

// "1.24 ms", "61.0 us".
std::string SecondsText(double seconds);
// "1 step", "3 steps".
std::string CountText(size_t count, absl::string_view noun);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_REPORT_TEXT_H_
