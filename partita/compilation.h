// The compilation of one module: its stages, each timed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_COMPILATION_H_
#define PARTITA_PARTITA_COMPILATION_H_

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "binding/choose_kernels.h"
#include "binding/layout_state.h"
#include "graph/fingerprint.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "partita/compile.h"
#include "partita/predict.h"
#include "placement/lower/lower.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "placement/partition/variable_homes.h"
#include "placement/planner/pins.h"
#include "placement/planner/planner.h"
#include "runtime/plan/plan.h"

namespace partita {

// One attempt: a placed module on its way to a plan, with its notes.
struct Attempt {
  Plan plan;
  // By entry: the placed graph, without kernels. It refers to literals of
  // `plan`, so it is declared after it and destroyed before it. Assign only to
  // an empty attempt: assignment replaces `plan` first.
  std::vector<std::unique_ptr<const Graph>> placed;
  std::vector<EntryNotes> notes;                // by entry
  std::vector<std::vector<PricedNode>> chosen;  // by entry
  // The module's text after these stages, if requested.
  std::string placed_text;
  std::string kernels_text;
  // The strategy with the same placement, and so the same plan; all other
  // fields are then empty.
  std::string repeats;
};

class Compilation {
 public:
  // `machine` and `options` must outlive it.
  Compilation(Module module, const Machine& machine,
              const CompileOptions& options);

  // Writes the pins and runs the source passes. Call it first.
  absl::Status Optimise();
  // Splits the batch into micro-batches if the options say so. Call it before
  // any strategy.
  absl::Status DivideIntoMicroBatches();
  const Module& source() const { return source_; }
  CompileReport& report() { return report_; }

  // Places, chooses kernels and lowers. Lowering counts the memory of each
  // draft that the planner asks about, and of the whole module. If a device is
  // short, a planner that reads memory limits runs again and fills that device
  // less. The refusal is that of the placement that misses least. What was
  // counted or lowered once, for any strategy, is not counted or lowered again.
  absl::StatusOr<Attempt> Try(const Planner& planner, bool with_texts = false);

  absl::StatusOr<Prediction> Predict(Attempt& attempt);
  // Generated code for the plan's nodes.
  absl::Status BuildCode(Plan& plan);
  // Proves the plan against its graphs, and these against the placed graphs;
  // adds the certificate. Internal if a proof fails.
  absl::Status Prove(Attempt& attempt);

 private:
  // By function, in the order in which functions decide.
  using Fingerprints = std::vector<Fingerprint>;

  // A function that a strategy has placed, on its way to a plan.
  struct PlacedFunction {
    std::vector<Placement> placements;  // by node id, as the strategy chose
    std::unique_ptr<Graph> graph;       // has the node ids of the placed one
    Fingerprint fingerprint;            // of the graph without kernels
    EntryNotes notes;
    // Once it has kernels:
    std::unique_ptr<Graph> without_kernels;
    std::vector<PricedNode> chosen;
    std::optional<CountedFunction> counted;
  };
  struct PlacedModule {
    Module module;  // its functions are those of the source
    std::vector<PlacedFunction> functions;
    Fingerprints fingerprints;
  };
  // What a placement is made for.
  struct PlacingOptions {
    const Planner& planner;
    std::vector<int64_t> limits;  // Objective::memory_limits
    bool with_texts = false;
  };
  // A device without enough memory.
  struct MissingBytes {
    int device = -1;  // none is short
    int64_t bytes = 0;
  };

  // Runs `work` as a stage: progress before, duration after. A stage may run
  // others: their time is theirs.
  absl::Status Stage(absl::string_view name,
                     const std::function<absl::Status()>& work);

  // A copy of the source, placed by a strategy.
  absl::StatusOr<PlacedModule> Place(const PlacingOptions& placing);
  // Places function `number`. `before`: the functions that have decided.
  // `homes`: the variables' homes from these; this function's are added.
  absl::StatusOr<PlacedFunction> PlaceFunction(
      const PlacingOptions& placing, int number, Graph& function,
      absl::Span<PlacedFunction* const> before, VariableHomes& homes);
  absl::StatusOr<PlacedFunction> PartitionAs(const Graph& function, int number,
                                             std::vector<Placement> placements,
                                             const VariableHomes& homes);
  // Chooses kernels and counts live ranges, once.
  absl::Status Count(int number, PlacedFunction& placed);
  // Bytes by device of a plan of these functions, in the order in which they
  // decide.
  absl::StatusOr<std::vector<int64_t>> NeededBytes(
      absl::Span<PlacedFunction* const> functions);
  // Lays out and emits. ResourceExhausted if that needs too much memory.
  absl::StatusOr<Attempt> Finish(const PlacingOptions& placing,
                                 PlacedModule placed);

  const MicroBatches& MicroBatchesOf(int function) const;
  MissingBytes MissingIn(absl::Span<const int64_t> needed) const;
  MissingBytes MissingIn(const absl::Status& refusal) const;

  Module source_;
  std::vector<MicroBatches> micro_batches_;  // by function; empty: one each
  const MicroBatches whole_batch_;
  const Machine& machine_;
  const CompileOptions& options_;
  const KernelCatalog& catalog_;
  std::vector<DeviceTraits> traits_;
  std::vector<DeviceClass> classes_;  // of traits_
  std::vector<int64_t> usable_;
  PackedConstants packed_;
  // From the first strategy on.
  std::optional<Lowering> lowering_;
  std::vector<int> deciding_order_;
  // What placements of the first functions, or of all, need.
  absl::flat_hash_map<Fingerprints, absl::StatusOr<std::vector<int64_t>>>
      needed_;
  // Placements that led to plans, with their strategies, and those that did
  // not, with their faults.
  absl::flat_hash_map<Fingerprints, std::string> planned_;
  absl::flat_hash_map<Fingerprints, absl::Status> refused_;
  CompileReport report_;
  double inner_seconds_ = 0;  // of stages in the running stage
  std::vector<WrittenPin> pins_;
  std::future<void> opening_codegen_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILATION_H_
