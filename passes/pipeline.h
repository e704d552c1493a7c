// The passes in their order, and what is done around each of them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_PIPELINE_H_
#define PARTITA_PASSES_PIPELINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// A pass changes a graph and nothing else; printing, timing, dumping and
// verifying are the pipeline's.
struct Pass {
  const char* name;  // as in --skip: "remove_dead"
  absl::Status (*run)(Graph& graph);
  // In the place of `run`, for a pass that asks for the batch: the names of
  // the inputs that hold it, as FindBatch takes them.
  absl::Status (*run_on_batch)(
      Graph& graph, absl::Span<const std::string> input_names) = nullptr;
};

// The machine-independent passes, in the order that RunPipeline keeps. A pass
// may stand in it more than once.
absl::Span<const Pass> SourcePasses();

// What is run on a graph behind these if it is to be divided into
// micro-batches.
absl::Span<const Pass> MicroBatchPasses();

struct PipelineOptions {
  int stop_after = -1;            // run this many passes; -1: all
  std::vector<std::string> skip;  // names of passes to leave out
  // Where the graph is written after every pass (DumpPath), if set; is made.
  std::string dump_folder;
  bool verify = true;  // after every pass that changed something
  std::vector<std::string> batch_inputs;  // as FindBatch takes them
};

// FOLDER/NN_<pass>.<function>.graph, the file for the pass `number`, from 1.
std::string DumpPath(const PipelineOptions& options, int number,
                     const Pass& pass, const Graph& graph);

struct PassRecord {
  std::string pass;
  double seconds = 0;
  bool changed = false;  // by fingerprint
};

// Runs `passes` on `graph`. An error names the pass and the function. Skipping
// a pass that does not exist is InvalidArgument and lists those that do.
absl::Status RunPipeline(absl::Span<const Pass> passes,
                         const PipelineOptions& options, Graph& graph,
                         std::vector<PassRecord>* records = nullptr);

}  // namespace partita

#endif  // PARTITA_PASSES_PIPELINE_H_
