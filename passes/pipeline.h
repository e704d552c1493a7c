// The passes in order, and the pipeline that runs them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_PIPELINE_H_
#define PARTITA_PASSES_PIPELINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "passes/pass_context.h"

namespace partita {

// A pass only changes a graph; the pipeline prints, times, dumps and verifies.
struct Pass {
  const char* name;  // as in --skip: "remove_dead"
  absl::Status (*run)(Graph& graph);
  // Instead of `run`, for a pass that needs more than the graph.
  absl::Status (*run_in)(Graph& graph, const PassContext& context) = nullptr;
};

// The passes before a planner, in the order of RunPipeline. All they know of
// the machine is PassContext::has_kernel. A pass may occur more than once.
absl::Span<const Pass> SourcePasses();

// The passes that run after these on a graph that will be split into
// micro-batches.
absl::Span<const Pass> MicroBatchPasses();

struct PipelineOptions {
  int stop_after = -1;            // run this many passes; -1: all
  std::vector<std::string> skip;  // names of passes to skip
  // The folder for dumps of the graph after every pass (DumpPath), if set. It
  // is created.
  std::string dump_folder;
  bool verify = true;  // after every pass that changed something
  PassContext context;
};

// FOLDER/NN_<pass>.<function>.graph: the file for pass `number`, from 1.
std::string DumpPath(const PipelineOptions& options, int number,
                     const Pass& pass, const Graph& graph);

struct PassRecord {
  std::string pass;
  double seconds = 0;
  bool changed = false;  // by fingerprint
};

// Runs `passes` on `graph`. An error names the pass and the function. Skipping
// an unknown pass is InvalidArgument and lists the known ones.
absl::Status RunPipeline(absl::Span<const Pass> passes,
                         const PipelineOptions& options, Graph& graph,
                         std::vector<PassRecord>* records = nullptr);

}  // namespace partita

#endif  // PARTITA_PASSES_PIPELINE_H_
