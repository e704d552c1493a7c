// The interface of all planners, and their result.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PLANNER_H_
#define PARTITA_PLACEMENT_PLANNER_PLANNER_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "placement/machine/machine.h"
#include "placement/planner/objective_choice.h"
#include "placement/planner/strategy_option.h"

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
  kSearched,      // strategy `search`: no move that it tried was better
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

// By machine device: the bytes that a plan needs whose nodes have these
// placements, by node id. Lowering counts them (placement/lower/lower.h), so
// strategies ask once for each finished draft.
using MemoryCounter = std::function<absl::StatusOr<std::vector<int64_t>>(
    absl::Span<const Placement> placements)>;

// A draft as it would be lowered.
struct PredictedDraft {
  std::vector<int64_t> needed_bytes;  // as MemoryCounter
  // As the goal counts a step (for kMemory, the time between steps); infinite
  // if it cannot be predicted.
  double step_seconds = 0;
};
// Lowers and simulates a draft: a strategy asks about few.
using DraftPredictor = std::function<absl::StatusOr<PredictedDraft>(
    absl::Span<const Placement> placements)>;

struct Objective {
  Goal goal = Goal::kLatency;
  // For kMemory: the time between steps that a draft should not exceed.
  double most_step_seconds = std::numeric_limits<double>::infinity();
  // By machine device: bytes that a strategy fills as it makes a draft, with
  // the values of all steps in flight, as needed_bytes counts them. Starts as
  // usable(). Compile lowers it where the draft needs more than usable().
  std::vector<int64_t> memory_limits;
  // Steps in flight. They share constants, variables and the new values of
  // variables; each has all other values of its own (BytesInFlight).
  int depth = 1;
  MemoryCounter needed_bytes;
  DraftPredictor predict;  // may be empty: a strategy then goes by estimates
  // True once a search must end (PlannerOptions::time_budget_ms). Empty: the
  // number of evaluations ends it.
  std::function<bool()> is_time_over;
  // Called with how far a search is; may be empty.
  std::function<void(absl::string_view)> progress;
};

struct Draft;
struct PlanRequest;
struct PlannerOptions;  // strategies.h

// Puts every computing node on a device (PutFollowers does the rest) and
// respects pins and links, and memory limits as far as it can: if no draft
// fits, it returns the one that misses least.
using StrategyFn = absl::StatusOr<Draft>(const PlanRequest& request);

// A bool without a default: a row that omits it does not compile.
class StatedBool {
 public:
  constexpr StatedBool(bool value) : value_(value) {}  // NOLINT
  constexpr operator bool() const { return value_; }   // NOLINT

 private:
  bool value_;
};

struct Planner {
  // Does not change the graph and reads no clock but is_time_over. The graph
  // has types and no layouts. A node with a placement is pinned by the user
  // (WritePins) and keeps it. An error if no placement has kernels and links
  // for all nodes; memory is no reason to refuse: lowering does.
  absl::StatusOr<PlacementTable> Place(const Graph& graph,
                                       const Machine& machine,
                                       const KernelCatalog& catalog,
                                       const Objective& objective,
                                       const PlannerOptions& options) const;

  const char* name;
  const char* doc;  // one line for --help
  // References, so that a row without one does not compile.
  StrategyFn& draft;
  StrategyFn& follow;  // for a graph that follows the variables of another
  absl::Span<const StrategyOption> options = {};
  bool needs_pins = false;   // of no use without pins
  bool lowers_many = false;  // many drafts: comparing many options omits it
  // The share of the step that auto must save to take its plan: predictions are
  // not exact, and regular plans are easier to understand.
  double least_gain = 0;
  // Reads Objective::memory_limits: with lower ones it may place differently.
  StatedBool reads_memory_limits;
};

// Every strategy except auto, in the order in which auto tries them. Auto
// simulates lowered plans, so it is in partita/.
absl::Span<const Planner> Planners();

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PLANNER_H_
