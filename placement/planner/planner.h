// The interface of all planners, and their result.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PLANNER_H_
#define PARTITA_PLACEMENT_PLANNER_PLANNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/batch.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"

namespace partita {

enum class Reason : uint8_t {
  kOnlyDevice,    // the only device with all kernels, or named by the user
  kBestDevice,    // strategy `single`: the fastest device that fits
  kPinned,        // the user's choice
  kNearConstant,  // runs where its weights are
  kFollows,       // runs where `value` is made
  kOnlyKernel,    // no other device has a kernel
  kMemoryFull,    // the better device had no room
  kCheaperBy,     // earliest finish; `seconds` better than the next device
  kStage,         // stage `stage` of a pipeline
  kSharded,       // strategy `data`: each replica runs its shard
  kReplicated,    // strategy `data`: every replica runs the whole node
};

struct PlacedNode {
  Placement placement;
  Reason reason = Reason::kOnlyDevice;
  ValueId value;       // the value that the reason names, if any
  double seconds = 0;  // kCheaperBy
  int stage = 0;       // kStage
};

// By node id of the graph. Constants may have an empty placement: they are
// placed where they are read.
struct PlacementTable {
  std::vector<PlacedNode> nodes;
  std::string strategy;  // "single", "pipeline", ...
};

// The text of a reason: "pinned", "near_constant %w1", "follows %y".
std::string ReasonText(const Graph& graph, const PlacedNode& node);

enum class Goal : uint8_t { kLatency, kThroughput };

struct Objective {
  Goal goal = Goal::kLatency;
  // By machine device: bytes that a planner may fill. Starts as usable().
  // Compile lowers it if lowering finds that a device has too little memory.
  std::vector<int64_t> memory_limits;
};

// `Planner` has flags for the options that a strategy reads.
struct PlannerOptions {
  std::string device;  // `single`: the device; empty: the fastest that fits
  int stages = 0;      // `pipeline`: how many; 0: the best number
  int replicas = 0;    // `data`: how many; 0: as many as possible
  // `data`: updates of variables with gradients of at least this many bytes are
  // sharded over the replicas (ShardUpdates). Nothing: no update is sharded.
  std::optional<int64_t> sharded_update_bytes;
  // `data`: the batch to shard. Nothing: FindBatch finds it.
  std::optional<Batch> batch;
  // The graph is that of one micro-batch; stages run the micro-batches in this
  // order.
  MicroBatches micro_batches;
  // Another function of the module has placed the variables. Their nodes have
  // these placements, and their readers stay there.
  bool follows_variables = false;
};

// Does not change the graph and reads no clock. The graph has types and no
// layouts. A node with a placement is pinned by the user (WritePins) and keeps
// it. RefusalError if no placement fits: device, shortage and largest tensors.
using PlannerFn = absl::StatusOr<PlacementTable> (*)(
    const Graph& graph, const Machine& machine, const KernelCatalog& catalog,
    const Objective& objective, const PlannerOptions& options);

struct Planner {
  const char* name;
  const char* doc;  // one line for --help
  PlannerFn plan;
  bool needs_pins = false;  // of no use without pins
  bool reads_device = false;
  bool reads_stages = false;
  bool reads_replicas = false;  // and sharded_update_bytes
};

// single, pinned, data, pipeline, list: every strategy except auto, in the
// order in which auto tries them. Auto simulates lowered plans, so it is in
// partita/.
absl::Span<const Planner> Planners();

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PLANNER_H_
