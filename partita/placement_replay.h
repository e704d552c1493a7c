// Makes a plan again from its model, with one node elsewhere.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLACEMENT_REPLAY_H_
#define PARTITA_PARTITA_PLACEMENT_REPLAY_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/attempt.h"
#include "partita/compile.h"
#include "partita/compile_target.h"
#include "partita/plan_figures.h"
#include "partita/plan_prices.h"
#include "partita/source_module.h"
#include "partita/stage_clock.h"
#include "runtime/plan/plan.h"

namespace partita {

// A plan holds the graph that a step runs, with transfers, shards and layouts
// for its placement. Another placement needs the model, and the options that
// decide what is placed: pins (no pass fuses nodes with different ones), passes
// left out, micro-batches, buckets and the device of the outputs. The strategy
// is not asked again: the nodes stay where the plan has them.
class PlacementReplay {
 public:
  // Runs the passes on the model and lowers it with the plan's placement.
  // FailedPrecondition if that makes another plan: the model or the options are
  // others than the plan's, or its prices are those of a profile, which a plan
  // does not hold. `options` need not say how many steps overlap, and how many
  // micro-batches there are: the plan does. The plan and its machine must
  // outlive the replay.
  static absl::StatusOr<std::unique_ptr<PlacementReplay>> Start(
      const Plan& plan, const PlanMachine& machine, Module model,
      const CompileOptions& options);

  // Those of the plan: what Simulate predicts.
  const PlanFigures& present() const { return present_; }

  // The figures of the plan whose node `node` of entry `entry` has this
  // placement. Views of its results follow it, and constants that it reads.
  // Errors say why there is no such plan: no kernel, no link, no room, or a
  // constraint of the options.
  absl::StatusOr<PlanFigures> WithNodeAt(size_t entry, NodeId node,
                                         const Placement& placement);

 private:
  using Placements = std::vector<std::vector<Placement>>;  // by function

  PlacementReplay(const Plan& plan, const PlanMachine& machine, Module model,
                  const CompileOptions& options);
  absl::Status Prepare();
  absl::Status ReadPlacements();
  absl::Status ReadPlacementsOf(size_t function);
  absl::StatusOr<Attempt> Try(const Placements& placements,
                              const std::string& name);
  absl::StatusOr<PlanFigures> FiguresOfAttempt(const Attempt& attempt) const;
  absl::Status CheckSamePlan(const Attempt& attempt) const;

  const Plan& plan_;
  const PlanMachine& machine_;
  const CompileOptions options_;
  const CompileTarget target_;
  std::vector<StageTime> times_;
  StageClock stages_;
  SourceModule source_;
  std::optional<Attempts> attempts_;  // once the source is renumbered
  PlanFigures present_;
  Placements placements_;  // the plan's, by node id of the source
  // By entry, and by node id of the plan: the node of the source.
  std::vector<std::vector<NodeId>> sources_;
  absl::flat_hash_map<std::string, PlanFigures> figures_;  // by attempt's name
  int alternatives_ = 0;  // attempts with a node elsewhere
};

}  // namespace partita

#endif  // PARTITA_PARTITA_PLACEMENT_REPLAY_H_
