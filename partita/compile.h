// From a module and a machine to a proved plan: the one place that knows all
// stages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_COMPILE_H_
#define PARTITA_PARTITA_COMPILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "partita/sharded_updates.h"
#include "passes/pipeline.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "placement/planner/pins.h"
#include "placement/planner/planner.h"
#include "placement/planner/strategies.h"
#include "runtime/plan/plan.h"

namespace partita {

inline constexpr int64_t kUsualBucketBytes = int64_t{4} << 20;

struct CompileOptions {
  std::string strategy = "auto";  // or a name of Planners()
  // Its objective is what auto and search minimize, summed over the module's
  // functions. Default: throughput if steps overlap, else latency.
  PlannerOptions planner;
  // matched against the given module; `on` in a graph's text is a pin too and
  // takes precedence
  std::vector<Pin> pins;
  int depth = 1;  // steps that may overlap
  // The inputs whose first dimension is the batch, in every function that has
  // one of them. Default: the first input, and those that FindBatch finds to
  // hold the batch too.
  std::vector<std::string> batch_inputs;
  // Micro-batches of a step, which run in sequence, and their order; and the
  // size of gradients that one collective reduces, 0 for one collective for
  // each (docs/guide/data_parallel.md). What is given is kept. For a training
  // step, auto and search choose the others (step_search.h). Default: one
  // micro-batch, one forward, one backward, kUsualBucketBytes.
  std::optional<int> micro_batches;
  std::optional<PipelineSchedule> schedule;
  std::optional<int64_t> bucket_bytes;
  // The device of the step's outputs. Empty: where they are made or, for values
  // sharded over several devices, the first of these.
  std::string output_device;
  std::string plan_name;  // empty: the first function's name
  PipelineOptions passes;
  // no kernel that violates IEEE 754: docs/internals/numerics.md
  bool ieee = false;
  // A refusal for lack of memory says what would fit, after trials of other
  // strategies and smaller steps. False: it comes at once, without.
  bool remedies = true;
  // Called before each stage with its name, and by a search with how far it is;
  // may be empty.
  std::function<void(absl::string_view stage)> progress;
};

// One strategy that was tried. Seconds are for one step of every entry, summed.
struct Candidate {
  std::string strategy;
  double step_seconds = 0;  // predicted; 0 if it was refused
  double latency_seconds = 0;
  double busiest_seconds = 0;  // kernels of the device that has most of them
  std::string refusal;         // why it was rejected, or empty
};

// For all entries: a device has one arena for them.
struct DeviceMemoryUse {
  std::string device;
  int64_t arena = 0;       // bytes that the plan reserves
  int64_t persistent = 0;  // of arena: constants and variables
  int64_t memory = 0;      // the limit, in bytes
};

struct DeviceUse {
  int64_t bound = 0;  // bytes: no layout of this order takes fewer
  int nodes = 0;
  double busy_seconds = 0;  // predicted
};

// One function of the plan.
struct EntryReport {
  std::string name;
  std::vector<DeviceUse> devices;  // as CompileReport::devices
  // Per step, between devices: copies, and collectives with the bytes that
  // their ranks give.
  int copies = 0;
  int64_t copied_bytes = 0;
  int collectives = 0;
  int64_t collective_bytes = 0;
  double step_seconds = 0;  // predicted, with depth steps overlapping
  // A lower bound for all plans on this machine, with whole or sharded nodes,
  // and what limits them: "load of gpu:0".
  double bound_seconds = 0;
  std::string bound_by;
  // The share of the nodes' predicted seconds in nodes that several devices
  // each compute whole, updates excepted.
  double repeated_share = 0;
  // For strategy `data` on several devices, if sharded updates were requested
  // (PlannerOptions).
  std::optional<ShardedUpdates> sharded_updates;
};

struct StageTime {
  std::string stage;
  double seconds = 0;
};

// Nodes that only plain loops compute: eval, or a library's reference
// implementation.
struct Fallbacks {
  std::vector<std::string> nodes;
  std::vector<std::string> kernels;  // of these nodes, each once, sorted
  double seconds = 0;                // of all of them, each once, predicted
  // Why none of them has generated code, if the generator was not found.
  std::string no_codegen;
};

// Nodes without a kernel that a GPU of the plan runs.
struct MissingGpuKernels {
  // On hosts, as no GPU of the plan has a kernel for them: "det %d".
  std::vector<std::string> host_nodes;
  // With cost-only kernels: no device runs the plan, but emulators do.
  int cost_only_nodes = 0;
};

struct CompileReport {
  std::string strategy;  // of the plan
  // The plan's step, if auto or search chose another one than the default:
  // "4 micro-batches, gpipe, buckets of 1 MiB".
  std::string chosen_step;
  bool has_pins = false;  // some nodes are where a pin places them
  std::vector<Candidate> candidates;
  std::vector<DeviceMemoryUse> devices;
  std::vector<EntryReport> entries;  // as the plan's
  std::vector<StageTime> stages;
  std::vector<PassRecord> passes;
  Fallbacks fallbacks;
  MissingGpuKernels missing_gpu_kernels;
  // Pins whose nodes passes all folded or removed.
  std::vector<std::string> idle_pins;
};

struct Compiled {
  Plan plan;  // proved, with notes and certificate
  CompileReport report;
};

// Compiles every function of the module into an entry. InvalidArgument if the
// graph or the options are wrong; ResourceExhausted with device, missing bytes,
// largest tensors and remedies if nothing fits; Internal if the checker refuses
// the plan, which is a bug.
absl::StatusOr<Compiled> Compile(Module module, const Machine& machine,
                                 const CompileOptions& options = {});

// What Compile would make, without native code and proof: to compare placements
// quickly. The plan has notes and no certificate. Errors: as Compile's, except
// Internal.
absl::StatusOr<Compiled> Predict(Module module, const Machine& machine,
                                 const CompileOptions& options = {});

// The text after a stage: "optimised", "placed" (by options.strategy, which
// must not be auto), "kernels" or "plan".
absl::StatusOr<std::string> CompileTo(absl::string_view stage, Module module,
                                      const Machine& machine,
                                      const CompileOptions& options = {});

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILE_H_
