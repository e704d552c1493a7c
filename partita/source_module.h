// The optimised module that strategies place.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_SOURCE_MODULE_H_
#define PARTITA_PARTITA_SOURCE_MODULE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "partita/compile_target.h"
#include "passes/pipeline.h"
#include "placement/partition/micro_batches.h"
#include "placement/planner/pins.h"

namespace partita {

class SourceModule {
 public:
  // `target` must outlive it.
  SourceModule(Module module, const CompileTarget& target);

  // Checks the module, writes the pins and runs the source passes; adds a
  // record of each pass. Call it first.
  absl::Status Optimise(std::vector<PassRecord>& records);
  // The pins whose nodes passes all folded or removed.
  std::vector<std::string> IdlePins() const;
  // Splits the batch into micro-batches, as the options say.
  absl::Status DivideIntoMicroBatches();
  // Numbers the nodes as copies of the module do. No pin finds its nodes any
  // more. Call it last.
  void Renumber();
  // Pins the nodes of a function, by node id; an empty placement removes a
  // node's pin. Nodes keep the groups of their constraints. Call it after
  // Renumber.
  void WritePlacements(int function, absl::Span<const Placement> placements);

  const Module& module() const { return module_; }
  // By function; empty: the whole batch is one micro-batch.
  const std::vector<MicroBatches>& micro_batches() const {
    return micro_batches_;
  }
  const MicroBatches& MicroBatchesOf(int function) const;

 private:
  absl::Status DivideFunction(Graph& function, const PipelineOptions& passes);

  const CompileTarget& target_;
  Module module_;
  std::vector<WrittenPin> pins_;
  std::vector<MicroBatches> micro_batches_;
  const MicroBatches whole_batch_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_SOURCE_MODULE_H_
