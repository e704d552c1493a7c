// Estimates the moves of one draft again and again.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/search_speed.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/graph.h"
#include "graph/status_macros.h"
#include "partita/backends/built_in_catalog.h"
#include "partita/profile/this_host.h"
#include "placement/cost/cost_model.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/draft_timer.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/search_budget.h"
#include "placement/planner/search_moves.h"
#include "placement/planner/strategies.h"
#include "tests/bench/scale_models.h"
#include "tests/planner/random_problem.h"

namespace partita {
namespace {

constexpr int64_t kMemory = int64_t{64} << 30;
constexpr int kDevices = 8;
constexpr int64_t kBatch = 16;
constexpr int kSizes[] = {100, 1'000, 10'000, 100'000};
constexpr int kDeviceCounts[] = {2, 64};

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

const char* ModelName(SpeedModel model) {
  if (model == SpeedModel::kRandom) return "random";
  return model == SpeedModel::kLayers ? "layers" : "training";
}

absl::StatusOr<Module> ModuleOf(const SpeedCase& speed_case) {
  const int nodes = speed_case.nodes;
  if (speed_case.model == SpeedModel::kRandom) {
    return RandomProblem(1, {.least_nodes = nodes, .most_nodes = nodes}).module;
  }
  return speed_case.model == SpeedModel::kLayers ? LayeredModel(nodes, kBatch)
                                                 : TrainingModel(nodes, kBatch);
}

ItemDraft EqualStages(const SearchSpace& space) {
  const size_t count = space.flow.items.size();
  const size_t devices = space.request.costs.num_devices();
  ItemDraft draft;
  for (size_t i = 0; i < count; ++i) {
    draft.push_back({{MachineDeviceId(static_cast<int>(i * devices / count))}});
  }
  return draft;
}

// A round of a climb that takes no move.
void EstimateMoves(const SearchMoves& moves, size_t most, DraftTimer& timer,
                   ItemDraft& draft, int64_t& evaluations) {
  for (const Move& move : moves.Of(draft, most)) {
    const Move undo = UndoOf(draft, move);
    Apply(move, draft);
    timer.Score(draft);
    Apply(undo, draft);
    ++evaluations;
  }
}

}  // namespace

std::string SpeedCase::key() const {
  return absl::StrCat(ModelName(model), "/", nodes, "_nodes/", devices,
                      "_cpus");
}

std::vector<SpeedCase> SpeedCases() {
  std::vector<SpeedCase> cases = {{SpeedModel::kRandom, 10, 2}};
  for (int nodes : kSizes) {
    cases.push_back({SpeedModel::kLayers, nodes, kDevices});
  }
  for (int devices : kDeviceCounts) {
    cases.push_back({SpeedModel::kLayers, kSizes[1], devices});
  }
  cases.push_back({SpeedModel::kTraining, kSizes[1], kDevices});
  return cases;
}

absl::StatusOr<RowCells> SpeedRow(const SpeedCase& speed_case,
                                  double least_seconds) {
  PARTITA_ASSIGN_OR_RETURN(const Module module, ModuleOf(speed_case));
  const Machine machine = EqualCpus(speed_case.devices, kMemory);
  const CostModel costs(module.main(), machine, BuiltInCatalog());
  Objective objective;
  objective.memory_limits.assign(machine.devices.size(), kMemory);
  const PlannerOptions options;
  const PlanRequest request{costs, objective, options};

  auto begin = Clock::now();
  const SearchSpace space(request);
  const SearchMoves moves(space);
  DraftTimer timer(space);
  ItemDraft draft = EqualStages(space);
  if (timer.Score(draft) == kNoDraft) {
    return absl::InternalError(absl::StrCat("bug: ", speed_case.key(),
                                            ": found a draft that cannot run"));
  }
  const double begin_seconds = SecondsSince(begin);

  const auto most = static_cast<size_t>(
      EvaluationsFor(options, static_cast<int64_t>(costs.order().size())));
  int64_t evaluations = 0;
  int64_t rounds = 0;
  begin = Clock::now();
  do {
    EstimateMoves(moves, most, timer, draft, evaluations);
    ++rounds;
  } while (SecondsSince(begin) < least_seconds);
  const double seconds = SecondsSince(begin);
  const ProfileHost host = ThisProfileHost();
  return RowCells{
      ModelName(speed_case.model),
      absl::StrCat(space.flow.items.size()),
      absl::StrCat(speed_case.devices),
      absl::StrFormat("%.4f", begin_seconds),
      absl::StrCat(rounds),
      absl::StrCat(evaluations),
      absl::StrFormat("%.1f", evaluations / seconds),
      absl::StrCat(host.cpu, ", ", host.isa, ", ", host.threads, " threads")};
}

}  // namespace partita
