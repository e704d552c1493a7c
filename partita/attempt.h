// Attempts of strategies at a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_ATTEMPT_H_
#define PARTITA_PARTITA_ATTEMPT_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "binding/choose_kernels.h"
#include "graph/placement.h"
#include "partita/compile_target.h"
#include "partita/draft_figures.h"
#include "partita/module_placer.h"
#include "partita/source_module.h"
#include "partita/stage_clock.h"
#include "placement/planner/planner.h"
#include "runtime/plan/plan.h"

namespace partita {

// One attempt: a plan with its notes.
struct Attempt {
  Plan plan;
  // By entry, and by node id of the source.
  std::vector<std::vector<Placement>> placements;
  std::vector<EntryNotes> notes;                // by entry
  std::vector<std::vector<PricedNode>> chosen;  // by entry
  // The module's text after these stages, if requested.
  std::string placed_text;
  std::string kernels_text;
  // The strategy with the same placement, and so the same plan; all other
  // fields are then empty.
  std::string repeats;
};

class Attempts {
 public:
  // All must outlive it. The source is renumbered. `opens_codegen`: as
  // DraftFigures.
  Attempts(const SourceModule& source, const CompileTarget& target,
           StageClock& stages, bool opens_codegen);

  // Places, chooses kernels and lowers. Lowering counts the memory of each
  // draft that the planner asks about, and of the whole module. If a device is
  // short, a planner that reads memory limits runs again and fills that device
  // less. The refusal is that of the placement that misses least. What was
  // counted or lowered once, for any strategy, is not counted or lowered again.
  absl::StatusOr<Attempt> Try(const Planner& planner, bool with_texts);

 private:
  // Lays out and emits. ResourceExhausted if that needs too much memory.
  absl::StatusOr<Attempt> Finish(const Planner& planner, bool with_texts,
                                 PlacedModule placed);
  absl::Status WritePlacedText(Module& module, Attempt& attempt) const;

  const SourceModule& source_;
  const CompileTarget& target_;
  StageClock& stages_;
  DraftFigures drafts_;
  ModulePlacer placer_;
  // Placements that led to plans, with their strategies, and those that did
  // not, with their faults.
  absl::flat_hash_map<Fingerprints, std::string> planned_;
  absl::flat_hash_map<Fingerprints, absl::Status> refused_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_ATTEMPT_H_
