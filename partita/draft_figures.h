// Predicts the memory and the step of placed functions, each once.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_DRAFT_FIGURES_H_
#define PARTITA_PARTITA_DRAFT_FIGURES_H_

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "binding/choose_kernels.h"
#include "binding/layout_state.h"
#include "graph/fingerprint.h"
#include "graph/graph.h"
#include "partita/compile_target.h"
#include "partita/source_module.h"
#include "partita/stage_clock.h"
#include "placement/lower/lower.h"
#include "placement/planner/planner.h"
#include "runtime/plan/plan.h"

namespace partita {

// By function, in the order in which functions decide.
using Fingerprints = std::vector<Fingerprint>;

// A function that a strategy has placed, on its way to a plan.
struct PlacedFunction {
  int number = 0;                     // in its module
  std::vector<Placement> placements;  // by node id, as the strategy chose
  std::unique_ptr<Graph> graph;       // has the node ids of the placed one
  Fingerprint fingerprint;            // of the graph without kernels
  EntryNotes notes;
  // Once it has kernels:
  std::vector<PricedNode> chosen;
  std::optional<CountedFunction> counted;
};

// A device without enough memory.
struct MissingBytes {
  int device = -1;  // of the machine; -1: none is short
  int64_t bytes = 0;
};

class DraftFigures {
 public:
  // All must outlive it. `opens_codegen`: opens the code generator beside the
  // first stages that need it, for later.
  DraftFigures(const SourceModule& source, const CompileTarget& target,
               StageClock& stages, bool opens_codegen);

  // Chooses kernels and counts live ranges, unless that is done. The graph must
  // not move until its plan is finished.
  absl::Status Count(PlacedFunction& placed);
  // The bytes of a plan of these functions, in the order in which they decide:
  // the first functions of the module, or all; and the step of the last of
  // them. What was predicted once, for any strategy, is not predicted again.
  absl::StatusOr<PredictedDraft> Predict(
      absl::Span<PlacedFunction* const> functions);
  // On the device that lacks most.
  MissingBytes MissingIn(absl::Span<const int64_t> needed) const;
  // On the device that lowering refused.
  MissingBytes MissingIn(const absl::Status& refusal) const;

  const Lowering& lowering() const { return lowering_; }

 private:
  const CompileTarget& target_;
  StageClock& stages_;
  const Lowering lowering_;
  PackedConstants packed_;
  absl::node_hash_map<Fingerprints, absl::StatusOr<PredictedDraft>> predicted_;
  const bool opens_codegen_;
  std::future<void> opening_codegen_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_DRAFT_FIGURES_H_
