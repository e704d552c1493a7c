// Compiles once for each strategy, up to the prediction.
// SPDX-License-Identifier: Apache-2.0

#include "partita/leaderboard.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "graph/status_macros.h"
#include "partita/best_step.h"
#include "partita/best_strategy.h"
#include "partita/compilation.h"
#include "partita/compile_request.h"
#include "partita/predict.h"
#include "partita/step_search.h"
#include "placement/planner/constraint_groups.h"
#include "placement/planner/draft_score.h"
#include "placement/planner/objective_choice.h"
#include "placement/planner/planner.h"

namespace partita {
namespace {

// A refusal of several strategies lists them in lines of its own, after a
// colon.
std::string FirstLine(absl::string_view text) {
  return std::string(absl::StripSuffix(text.substr(0, text.find('\n')), ":"));
}

void AddPeaks(const Machine& machine, const CompileReport& report,
              LeaderboardRow& row) {
  row.peak_bytes.assign(machine.devices.size(), 0);
  for (const DeviceMemoryUse& use : report.devices) {
    const auto device =
        absl::c_find_if(machine.devices, [&](const MachineDevice& candidate) {
          return candidate.traits.name == use.device;
        });
    row.peak_bytes[device - machine.devices.begin()] = use.arena;
  }
}

void AddEntries(const CompileReport& report, LeaderboardRow& row) {
  double busy = 0, largest = 0;
  for (const EntryReport& entry : report.entries) {
    row.bound_seconds += entry.bound_seconds;
    row.moved_bytes += entry.copied_bytes + entry.collective_bytes;
    for (const DeviceUse& use : entry.devices) busy += use.busy_seconds;
    if (entry.bound_seconds <= largest) continue;
    largest = entry.bound_seconds;
    row.bound_by = entry.bound_by;
  }
  const double available =
      row.step_seconds * static_cast<double>(report.devices.size());
  if (available > 0) row.bubble = std::max(0.0, 1 - busy / available);
}

// "search in 4 micro-batches, 1f1b, buckets of 4 MiB", without what the row's
// name says.
std::string ChosenBy(const std::string& strategy, const CompileReport& report) {
  if (report.strategy == strategy) return report.chosen_step;
  if (report.chosen_step.empty()) return report.strategy;
  return absl::StrCat(report.strategy, " in ", report.chosen_step);
}

class Comparison {
 public:
  Comparison(const Module& module, const Machine& machine,
             const CompileOptions& options)
      : module_(module), machine_(machine), options_(options) {}

  absl::StatusOr<LeaderboardRow> Row(const std::string& strategy,
                                     absl::Span<const Planner> planners) const {
    CompileOptions options = options_;
    options.strategy = strategy;
    LeaderboardRow row{.strategy = strategy};
    const auto start = std::chrono::steady_clock::now();
    PARTITA_ASSIGN_OR_RETURN(const std::vector<StepToCompile> steps,
                             StepsToCompile(module_, machine_, options));
    absl::StatusOr<CompiledStep> step = CompileBestStep(
        module_, machine_, steps, planners, LastStage::kPrediction);
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    if (!step.ok()) {
      row.refusal = FirstLine(step.status().message());
      return row;
    }
    row.planning_seconds = taken.count();
    PARTITA_RETURN_IF_ERROR(
        AddPlan(std::move(step->best), step->compilation->report(), row));
    return row;
  }

 private:
  absl::Status AddPlan(BestPlan best, CompileReport& report,
                       LeaderboardRow& row) const {
    Plan& plan = best.attempt.plan;
    plan.notes = std::move(best.prediction.notes);
    PARTITA_RETURN_IF_ERROR(FillReport(plan, best.prediction,
                                       best.attempt.chosen,
                                       /*shards_updates=*/false, report));
    row.chosen = ChosenBy(row.strategy, report);
    row.step_seconds = best.prediction.step_seconds;
    row.latency_seconds = best.prediction.latency_seconds;
    AddPeaks(machine_, report, row);
    AddEntries(report, row);
    return absl::OkStatus();
  }

  const Module& module_;
  const Machine& machine_;
  const CompileOptions& options_;
};

DraftScore ScoreOfRow(const ObjectiveChoice& objective,
                      const LeaderboardRow& row) {
  if (!row.refusal.empty()) return kNoDraft;
  return ScoreOf(
      {.goal = objective.goal,
       .most_step_seconds = objective.most_step_seconds},
      {.limits = row.peak_bytes,
       .needed_bytes = row.peak_bytes,
       .step_seconds = objective.goal == Goal::kLatency ? row.latency_seconds
                                                        : row.step_seconds});
}

void Sort(const ObjectiveChoice& objective, std::vector<LeaderboardRow>& rows) {
  const auto key = [&](const LeaderboardRow& row) {
    return ScoreOfRow(objective, row);
  };
  absl::c_stable_sort(rows,
                      [&](const LeaderboardRow& a, const LeaderboardRow& b) {
                        return key(a) < key(b);
                      });
}

}  // namespace

absl::StatusOr<Leaderboard> CompareStrategies(const Module& module,
                                              const Machine& machine,
                                              CompileOptions options) {
  options.strategy = "auto";
  PARTITA_RETURN_IF_ERROR(CheckRequest(machine, options));
  PARTITA_RETURN_IF_ERROR(CheckBuckets(module, machine, options));
  PARTITA_RETURN_IF_ERROR(CheckSchedule(module, machine, options));
  PARTITA_RETURN_IF_ERROR(
      CheckConstraintPatterns(module, options.planner.constraints));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           PlannersFor(module, options));
  Leaderboard board{.machine = machine.name};
  for (const MachineDevice& device : machine.devices) {
    board.devices.push_back(device.traits.name);
  }
  const Comparison comparison(module, machine, options);
  for (const Planner& planner : planners) {
    PARTITA_ASSIGN_OR_RETURN(LeaderboardRow row,
                             comparison.Row(planner.name, {planner}));
    board.rows.push_back(std::move(row));
  }
  PARTITA_ASSIGN_OR_RETURN(LeaderboardRow row,
                           comparison.Row("auto", planners));
  board.rows.push_back(std::move(row));
  Sort(ObjectiveOf(options), board.rows);
  return board;
}

}  // namespace partita
