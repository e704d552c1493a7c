// From a module and a machine to a proved plan: the one place that knows the
// whole chain.
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
#include "partita/divided_updates.h"
#include "passes/pipeline.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "placement/planner/pins.h"
#include "placement/planner/planner.h"
#include "runtime/plan/plan.h"

namespace partita {

inline constexpr int64_t kUsualBucketBytes = int64_t{4} << 20;

struct CompileOptions {
  std::string strategy = "auto";  // or a name of Planners()
  // What auto keeps the best of, summed over the module's functions; nothing:
  // throughput where steps overlap, else latency.
  std::optional<Goal> goal;
  PlannerOptions planner;
  std::vector<Pin> pins;  // held against the module as it is given; `on` in a
                          // graph's text is a pin too and stands before them
  int depth = 1;          // steps that may overlap
  // The inputs whose first dimension is the batch, in every function that has
  // one of them; where none is named: the first input, and those that FindBatch
  // finds to go with it.
  std::vector<std::string> batch_inputs;
  // Parts of the batch that go through a step one behind the other, and in
  // which order; nothing: one forward, one backward.
  int micro_batches = 1;
  std::optional<PipelineSchedule> schedule;
  // Bytes of gradients in one collective: docs/guide/data_parallel.md. 0: one
  // collective for each; nothing: kUsualBucketBytes.
  std::optional<int64_t> bucket_bytes;
  // Where the step's outputs are brought; empty: where they are made, or, of
  // parts on several devices, the first of these.
  std::string output_device;
  std::string plan_name;  // empty: the first function's name
  PipelineOptions passes;
  // No kernel that strays from IEEE 754: docs/internals/numerics.md.
  bool ieee = false;
  // Called before each stage with its name, for progress; may be empty.
  std::function<void(absl::string_view stage)> progress;
};

// One strategy that was tried. Seconds are those of one step of every entry,
// taken together.
struct Candidate {
  std::string strategy;
  double step_seconds = 0;  // predicted; 0 if it was refused
  double latency_seconds = 0;
  std::string refusal;  // why it was not taken, or empty
};

// Of all entries: a device has one arena for them.
struct DeviceMemoryUse {
  std::string device;
  int64_t arena = 0;       // bytes that the plan reserves
  int64_t persistent = 0;  // of arena: constants and variables
  int64_t memory = 0;      // bytes that it may take
};

struct DeviceUse {
  int64_t bound = 0;  // bytes: no layout of this order takes less
  int nodes = 0;
  double busy_seconds = 0;  // predicted
};

// What the plan has for one function.
struct EntryReport {
  std::string name;
  std::vector<DeviceUse> devices;  // as CompileReport::devices
  int copies = 0;
  int64_t copied_bytes = 0;  // per step, between devices
  double step_seconds = 0;   // predicted, with depth steps overlapping
  // No plan for this machine can be faster, whole nodes or cut.
  double bound_seconds = 0;
  // Of the nodes' predicted seconds, what is in those that several devices
  // compute whole, each of them, though they are no updates.
  double repeated_share = 0;
  // By strategy `data` on several devices, if updates were to be divided
  // (PlannerOptions).
  std::optional<DividedUpdates> divided_updates;
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

struct CompileReport {
  std::string strategy;  // of the plan
  std::vector<Candidate> candidates;
  std::vector<DeviceMemoryUse> devices;
  std::vector<EntryReport> entries;  // as the plan's
  std::vector<StageTime> stages;
  std::vector<PassRecord> passes;
  Fallbacks fallbacks;
  // Pins none of whose nodes is left, as passes folded or removed them.
  std::vector<std::string> idle_pins;
};

struct Compiled {
  Plan plan;  // proved, with notes and certificate
  CompileReport report;
};

// Compiles every function of the module into an entry. InvalidArgument if the
// graph or the options are wrong, ResourceExhausted with device, bytes short,
// largest tensors and remedies if nothing fits, Internal if the checker refuses
// the plan: that is our bug.
absl::StatusOr<Compiled> Compile(Module module, const Machine& machine,
                                 const CompileOptions& options = {});

// The text after a stage: "optimised", "placed" (by options.strategy, which
// must not be auto), "kernels" or "plan".
absl::StatusOr<std::string> CompileTo(absl::string_view stage, Module module,
                                      const Machine& machine,
                                      const CompileOptions& options = {});

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILE_H_
