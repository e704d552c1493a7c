// Finds remedies by compiling, and attaches them to a status.
// SPDX-License-Identifier: Apache-2.0

#include "partita/remedy.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "graph/batch.h"
#include "graph/status_macros.h"
#include "partita/best_strategy.h"
#include "partita/compilation.h"
#include "partita/compile_request.h"
#include "placement/lower/refusal.h"

namespace partita {
namespace {

constexpr char kPayload[] = "partita/remedy";

CompileOptions AnyStrategy(const CompileOptions& options) {
  CompileOptions any = options;
  any.strategy = "auto";
  any.planner = {};
  any.schedule.reset();
  any.bucket_bytes.reset();
  any.progress = nullptr;
  any.passes.dump_folder.clear();  // dumps are only for the request itself
  return any;
}

// A training step with more, equal micro-batches: each try at least doubles
// their number, up to the limit. (For a batch of requests that is too large,
// smaller extents are the remedy.)
void AddMicroBatches(const Module& module, const CompileOptions& any,
                     std::vector<CompileOptions>& changes) {
  if (!Trains(module)) return;
  const int64_t batch = FindBatch(module.main(), any.batch_inputs).extent;
  int64_t most = std::min(batch, kMostTriedMicroBatches);
  while (most > any.micro_batches && batch % most != 0) --most;
  int64_t least = 2 * any.micro_batches;
  for (int64_t parts = any.micro_batches + 1; parts <= most; ++parts) {
    const bool is_next = parts >= least && batch % parts == 0;
    if (!is_next && parts != most) continue;
    changes.push_back(any);
    changes.back().micro_batches = static_cast<int>(parts);
    least = 2 * parts;
  }
}

// With any strategy: steps that do not overlap, then more micro-batches, then
// both.
void AddSmallerSteps(const Module& module, CompileOptions any,
                     std::vector<CompileOptions>& changes) {
  const bool overlaps = any.depth > 1;
  if (overlaps) {
    changes.push_back(any);
    changes.back().depth = 1;
  }
  AddMicroBatches(module, any, changes);
  any.depth = 1;
  if (overlaps) AddMicroBatches(module, any, changes);
}

// In order of increasing change: any strategy, then smaller steps, then the
// same without pins.
std::vector<CompileOptions> Changes(const Module& module,
                                    const CompileOptions& options) {
  CompileOptions any = AnyStrategy(options);
  std::vector<CompileOptions> changes;
  const bool tries_all =
      options.strategy == "auto" && !options.schedule.has_value();
  if (!tries_all) changes.push_back(any);
  AddSmallerSteps(module, any, changes);
  if (options.pins.empty()) return changes;
  any.pins.clear();
  changes.push_back(any);
  AddSmallerSteps(module, any, changes);
  return changes;
}

absl::StatusOr<Remedy> Follow(const Module& module, const Machine& machine,
                              const CompileOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           PlannersFor(module, options));
  Compilation compilation(module.Clone(), machine, options);
  PARTITA_RETURN_IF_ERROR(compilation.Optimise());
  PARTITA_RETURN_IF_ERROR(compilation.DivideIntoMicroBatches());
  PARTITA_ASSIGN_OR_RETURN(
      const BestPlan best,
      TryStrategies(compilation, planners, GoalOf(options)));
  return Remedy{.strategy = compilation.report().strategy,
                .depth = options.depth,
                .micro_batches = options.micro_batches,
                .step_seconds = best.prediction.step_seconds};
}

std::optional<Remedy> FindRemedy(const Module& module, const Machine& machine,
                                 const CompileOptions& options) {
  for (const CompileOptions& changed : Changes(module, options)) {
    absl::StatusOr<Remedy> remedy = Follow(module, machine, changed);
    if (!remedy.ok()) continue;
    remedy->without_pins = changed.pins.size() != options.pins.size();
    return *remedy;
  }
  return std::nullopt;
}

std::string RemedyText(const Remedy& remedy, const CompileOptions& options) {
  std::string text = absl::StrCat("strategy ", remedy.strategy);
  if (remedy.without_pins) absl::StrAppend(&text, " without the pins");
  if (remedy.depth != options.depth) absl::StrAppend(&text, " at depth 1");
  if (remedy.micro_batches != options.micro_batches) {
    absl::StrAppend(&text, " in ", remedy.micro_batches, " micro-batches");
  }
  absl::StrAppendFormat(&text, " (predicted %.3g ms a step)",
                        remedy.step_seconds * 1e3);
  return text;
}

}  // namespace

bool Trains(const Module& module) {
  return absl::c_any_of(module.functions(), [](const auto& function) {
    return !function->updates().empty();
  });
}

absl::StatusOr<Remedy> FindFit(const Module& module, const Machine& machine,
                               const CompileOptions& options) {
  const CompileOptions any = AnyStrategy(options);
  absl::StatusOr<Remedy> fit = Follow(module, machine, any);
  if (fit.ok() || !ShortageOf(fit.status()).has_value()) return fit;
  const std::optional<Remedy> remedy = FindRemedy(module, machine, any);
  if (remedy.has_value()) return *remedy;
  return fit;
}

absl::Status WithRemedies(const absl::Status& refusal, const Module& module,
                          const Machine& machine,
                          const CompileOptions& options) {
  const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
  if (!shortage.has_value()) return refusal;
  const std::optional<Remedy> remedy = FindRemedy(module, machine, options);
  const bool lines = refusal.message().find('\n') != absl::string_view::npos;
  std::string text =
      absl::StrCat(refusal.message(), lines ? "\n  try " : "; try ");
  if (remedy.has_value()) {
    absl::StrAppend(&text, RemedyText(*remedy, options), ", or ");
  }
  absl::StrAppend(&text, MemoryRemedy(*shortage));
  absl::Status status(refusal.code(), text);
  SetShortage(*shortage, status);
  if (remedy.has_value()) {
    status.SetPayload(
        kPayload, absl::Cord(absl::StrCat(remedy->strategy, " ", remedy->depth,
                                          " ", remedy->without_pins ? 1 : 0,
                                          " ", remedy->step_seconds, " ",
                                          remedy->micro_batches)));
  }
  return status;
}

std::optional<Remedy> RemedyOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(*payload), ' ');
  Remedy remedy;
  int without_pins = 0;
  if (parts.size() != 5 || !absl::SimpleAtoi(parts[1], &remedy.depth) ||
      !absl::SimpleAtoi(parts[2], &without_pins) ||
      !absl::SimpleAtod(parts[3], &remedy.step_seconds) ||
      !absl::SimpleAtoi(parts[4], &remedy.micro_batches)) {
    return std::nullopt;
  }
  remedy.strategy = parts[0];
  remedy.without_pins = without_pins != 0;
  return remedy;
}

}  // namespace partita
