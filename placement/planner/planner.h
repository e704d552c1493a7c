// The one interface of all planners, and their answer.
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
  kOnlyDevice,    // the only one there is, that has all kernels, or was named
  kBestDevice,    // strategy `single`: the least time of those that can
  kPinned,        // the user said so
  kNearConstant,  // its weights decide
  kFollows,       // runs where `value` is made
  kOnlyKernel,    // no other device has a kernel
  kMemoryFull,    // the better device had no room
  kCheaperBy,     // earliest finish; `seconds` better than the next device
  kStage,         // stage `stage` of a pipeline
  kDivided,       // strategy `data`: each replica does its part
  kReplicated,    // strategy `data`: every replica needs it whole
};

struct PlacedNode {
  Placement placement;
  Reason reason = Reason::kOnlyDevice;
  ValueId value;       // the value that the reason speaks of, if any
  double seconds = 0;  // kCheaperBy
  int stage = 0;       // kStage
};

// By node id of the graph; nodes that take no device (constants are placed
// where they are read) may have an empty placement.
struct PlacementTable {
  std::vector<PlacedNode> nodes;
  std::string strategy;  // "single", "pipeline", ...
};

// "pinned", "near_constant %w1", "follows %y": the same words everywhere.
std::string ReasonText(const Graph& graph, const PlacedNode& node);

enum class Goal : uint8_t { kLatency, kThroughput };

struct Objective {
  Goal goal = Goal::kLatency;
  // By machine device; the memory that a planner may fill. Starts as usable()
  // and is lowered by compile when lowering found a device short.
  std::vector<int64_t> memory_limits;
};

// Planner says which of these a strategy reads.
struct PlannerOptions {
  std::string device;  // `single`: which; empty: the fastest that fits
  int stages = 0;      // `pipeline`: 0 for as many as help
  int replicas = 0;    // `data`: how many; 0 for as many as there are
  // `data`: variables whose gradients have so many bytes or more are updated in
  // parts, one by each replica (DivideUpdates); nothing: all by every replica.
  std::optional<int64_t> divided_update_bytes;
  // `data`: what is divided; nothing: FindBatch says.
  std::optional<Batch> batch;
  // The graph is that of one micro-batch of so many, as stages take them up.
  MicroBatches micro_batches;
  // Another function of the module decided where variables lie: their nodes
  // have these placements, and what reads them stays there.
  bool follows_variables = false;
};

// Writes no graph and reads no clock. The graph has types and no layouts; where
// a node has a placement, the user pinned it (WritePins), and it stays.
// RefusalError if nothing fits: device, bytes short, and what fills it.
using PlannerFn = absl::StatusOr<PlacementTable> (*)(
    const Graph& graph, const Machine& machine, const KernelCatalog& catalog,
    const Objective& objective, const PlannerOptions& options);

struct Planner {
  const char* name;
  const char* doc;  // one line for --help
  PlannerFn plan;
  bool needs_pins = false;  // says nothing without pins
  bool reads_device = false;
  bool reads_stages = false;
  bool reads_replicas = false;  // and divided_update_bytes
};

// single, pinned, data, pipeline, list: every strategy but auto, in the order
// in which auto tries them. Auto simulates lowered plans and so lives in
// partita/.
absl::Span<const Planner> Planners();

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PLANNER_H_
