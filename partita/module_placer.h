// Places a module by a strategy.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_MODULE_PLACER_H_
#define PARTITA_PARTITA_MODULE_PLACER_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "partita/compile_target.h"
#include "partita/draft_figures.h"
#include "partita/source_module.h"
#include "partita/stage_clock.h"
#include "placement/partition/variable_homes.h"
#include "placement/planner/planner.h"

namespace partita {

struct PlacedModule {
  Module module;  // its functions are those of the source
  std::vector<PlacedFunction> functions;
  Fingerprints fingerprints;
  // The functions in the order in which they decided.
  std::vector<PlacedFunction*> deciding;
};

class ModulePlacer {
 public:
  // All must outlive it. The source is renumbered. A time budget starts here.
  ModulePlacer(const SourceModule& source, const CompileTarget& target,
               StageClock& stages, DraftFigures& drafts);

  // A copy of the source, placed by the strategy. `limits`:
  // Objective::memory_limits. `drafts` predicts each draft that the strategy
  // asks about.
  absl::StatusOr<PlacedModule> Place(const Planner& planner,
                                     const std::vector<int64_t>& limits);

 private:
  // What one function is placed for.
  struct PlacingOptions {
    const Planner& planner;
    const std::vector<int64_t>& limits;
    int number;  // of the function
    // The functions that have decided, and the variables' homes from these.
    absl::Span<PlacedFunction* const> before;
    const VariableHomes& homes;
  };

  absl::StatusOr<PlacedFunction> PlaceFunction(const PlacingOptions& placing,
                                               Graph& function);
  absl::StatusOr<PlacedFunction> PartitionAs(const PlacingOptions& placing,
                                             const Graph& function,
                                             std::vector<Placement> placements);
  PlannerOptions OptionsFor(const PlacingOptions& placing,
                            Graph& function) const;
  // Without needed_bytes and predict.
  Objective ObjectiveFor(const PlacingOptions& placing) const;

  const SourceModule& source_;
  const CompileTarget& target_;
  StageClock& stages_;
  DraftFigures& drafts_;
  const std::vector<int> deciding_order_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_MODULE_PLACER_H_
