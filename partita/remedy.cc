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
#include "graph/status_macros.h"
#include "partita/best_strategy.h"
#include "partita/compilation.h"
#include "partita/compile_request.h"
#include "partita/micro_batch_counts.h"
#include "placement/lower/refusal.h"

namespace partita {
namespace {

constexpr char kPayload[] = "partita/remedy";

CompileOptions AnyStrategy(const CompileOptions& options) {
  CompileOptions any = options;
  any.strategy = "auto";
  any.planner = {.most_devices = options.planner.most_devices,
                 .objective = options.planner.objective,
                 .constraints = options.planner.constraints};
  any.schedule.reset();
  any.bucket_bytes.reset();
  any.progress = nullptr;
  any.passes.dump_folder.clear();  // dumps are only for the request itself
  return any;
}

// Changes of one kind, in order of increasing change: once one fits, the next
// ones are tried while they are faster.
using Kind = std::vector<CompileOptions>;

// A training step with more, equal micro-batches. (For a batch of requests that
// is too large, smaller extents are the remedy.)
Kind MicroBatchChanges(const Module& module, const CompileOptions& any) {
  Kind changes;
  for (int count : MicroBatchCountsAbove(any.micro_batches.value_or(1), module,
                                         any.batch_inputs)) {
    changes.push_back(any);
    changes.back().micro_batches = count;
  }
  return changes;
}

// With any strategy: steps that do not overlap, more micro-batches, and both.
void AddSmallerSteps(const Module& module, CompileOptions any,
                     std::vector<Kind>& kinds) {
  kinds.push_back(MicroBatchChanges(module, any));
  if (any.depth == 1) return;
  any.depth = 1;
  kinds.push_back({any});
  kinds.push_back(MicroBatchChanges(module, any));
}

// Any strategy, and smaller steps.
std::vector<Kind> Kinds(const Module& module, const CompileOptions& options) {
  const CompileOptions any = AnyStrategy(options);
  std::vector<Kind> kinds;
  const bool tries_all =
      options.strategy == "auto" && !options.schedule.has_value();
  if (!tries_all) kinds.push_back({any});
  AddSmallerSteps(module, any, kinds);
  return kinds;
}

// The same without pins.
std::vector<Kind> KindsWithoutPins(const Module& module,
                                   const CompileOptions& options) {
  CompileOptions any = AnyStrategy(options);
  any.pins.clear();
  std::vector<Kind> kinds = {{any}};
  AddSmallerSteps(module, any, kinds);
  return kinds;
}

absl::StatusOr<Remedy> FollowBy(absl::Span<const Planner> planners,
                                const Module& module, const Machine& machine,
                                const CompileOptions& options) {
  Compilation compilation(module.Clone(), machine, options);
  PARTITA_RETURN_IF_ERROR(compilation.Optimise());
  PARTITA_RETURN_IF_ERROR(compilation.DivideIntoMicroBatches());
  PARTITA_ASSIGN_OR_RETURN(
      const BestPlan best,
      TryStrategies(compilation, planners, ObjectiveOf(options)));
  return Remedy{.strategy = compilation.report().strategy,
                .depth = options.depth,
                .micro_batches = options.micro_batches.value_or(1),
                .step_seconds = best.prediction.step_seconds};
}

// Several changes are tried, each by a compilation: a search would be slow.
absl::StatusOr<Remedy> Follow(const Module& module, const Machine& machine,
                              const CompileOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           QuickPlanners(module, options));
  return FollowBy(planners, module, machine, options);
}

// A search also splits nodes. For the objective memory it goes on to drafts
// with less memory than their estimates need to fit. Nothing if the request
// was such a search.
std::optional<Remedy> BySearch(const Module& module, const Machine& machine,
                               const CompileOptions& options) {
  const bool searches =
      options.strategy == "auto" || options.strategy == "search";
  const bool is_tried = searches && ObjectiveOf(options).goal == Goal::kMemory;
  if (is_tried || machine.devices.size() == 1) return std::nullopt;
  CompileOptions changed = AnyStrategy(options);
  changed.strategy = "search";
  changed.planner.objective = ObjectiveChoice{Goal::kMemory};
  const auto planners = PlannersFor(module, changed);
  if (!planners.ok()) return std::nullopt;
  absl::StatusOr<Remedy> remedy = FollowBy(*planners, module, machine, changed);
  if (!remedy.ok()) return std::nullopt;
  remedy->least_memory = true;
  return *remedy;
}

std::optional<Remedy> FastestOfKind(const Module& module,
                                    const Machine& machine, const Kind& kind) {
  std::optional<Remedy> fastest;
  for (const CompileOptions& changed : kind) {
    const absl::StatusOr<Remedy> remedy = Follow(module, machine, changed);
    if (!remedy.ok()) continue;
    if (fastest.has_value() && remedy->step_seconds >= fastest->step_seconds) {
      break;
    }
    fastest = *remedy;
  }
  return fastest;
}

// The remedy with the shortest predicted step; among equals the earlier kind's.
std::optional<Remedy> Fastest(const Module& module, const Machine& machine,
                              const std::vector<Kind>& kinds) {
  std::optional<Remedy> fastest;
  for (const Kind& kind : kinds) {
    const std::optional<Remedy> remedy = FastestOfKind(module, machine, kind);
    if (!remedy.has_value()) continue;
    if (!fastest.has_value() || remedy->step_seconds < fastest->step_seconds) {
      fastest = remedy;
    }
  }
  return fastest;
}

// Pins are the user's wish: they go only if nothing fits with them.
std::optional<Remedy> FindRemedy(const Module& module, const Machine& machine,
                                 const CompileOptions& options, bool searches) {
  std::optional<Remedy> remedy =
      Fastest(module, machine, Kinds(module, options));
  if (!remedy.has_value() && searches) {
    remedy = BySearch(module, machine, options);
  }
  if (remedy.has_value() || options.pins.empty()) return remedy;
  remedy = Fastest(module, machine, KindsWithoutPins(module, options));
  if (remedy.has_value()) remedy->without_pins = true;
  return remedy;
}

std::string RemedyText(const Remedy& remedy, const CompileOptions& options) {
  std::string text = absl::StrCat("strategy ", remedy.strategy);
  if (remedy.least_memory) absl::StrAppend(&text, " with objective memory");
  if (remedy.without_pins) absl::StrAppend(&text, " without the pins");
  if (remedy.depth != options.depth) absl::StrAppend(&text, " at depth 1");
  if (remedy.micro_batches != options.micro_batches.value_or(1)) {
    absl::StrAppend(&text, " in ", remedy.micro_batches, " micro-batches");
  }
  absl::StrAppendFormat(&text, " (predicted %.3g ms a step)",
                        remedy.step_seconds * 1e3);
  return text;
}

}  // namespace

absl::StatusOr<Remedy> FindFit(const Module& module, const Machine& machine,
                               const CompileOptions& options) {
  const CompileOptions any = AnyStrategy(options);
  absl::StatusOr<Remedy> fit = Follow(module, machine, any);
  if (fit.ok() || !ShortageOf(fit.status()).has_value()) return fit;
  const std::optional<Remedy> remedy =
      FindRemedy(module, machine, any, /*searches=*/false);
  if (remedy.has_value()) return *remedy;
  return fit;
}

absl::Status WithRemedies(const absl::Status& refusal, const Module& module,
                          const Machine& machine,
                          const CompileOptions& options) {
  const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
  if (!shortage.has_value() || !options.remedies) return refusal;
  const std::optional<Remedy> remedy =
      FindRemedy(module, machine, options, /*searches=*/true);
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
        kPayload,
        absl::Cord(absl::StrCat(
            remedy->strategy, " ", remedy->depth, " ",
            remedy->without_pins ? 1 : 0, " ", remedy->step_seconds, " ",
            remedy->micro_batches, " ", remedy->least_memory ? 1 : 0)));
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
  int least_memory = 0;
  if (parts.size() != 6 || !absl::SimpleAtoi(parts[1], &remedy.depth) ||
      !absl::SimpleAtoi(parts[2], &without_pins) ||
      !absl::SimpleAtod(parts[3], &remedy.step_seconds) ||
      !absl::SimpleAtoi(parts[4], &remedy.micro_batches) ||
      !absl::SimpleAtoi(parts[5], &least_memory)) {
    return std::nullopt;
  }
  remedy.strategy = parts[0];
  remedy.without_pins = without_pins != 0;
  remedy.least_memory = least_memory != 0;
  return remedy;
}

}  // namespace partita
