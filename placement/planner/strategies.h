// The strategies, their options and their table. Each strategy has a source of
// its own.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_STRATEGIES_H_
#define PARTITA_PLACEMENT_PLANNER_STRATEGIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/batch.h"
#include "placement/partition/micro_batches.h"
#include "placement/planner/constraint.h"
#include "placement/planner/objective_choice.h"
#include "placement/planner/planner.h"
#include "placement/planner/strategy_option.h"

namespace partita {

struct PlannerOptions {
  // What users choose; declared as options below.
  std::string device;                           // `single`
  std::optional<int64_t> replicas;              // `data`
  std::optional<int64_t> sharded_update_bytes;  // `data`
  std::optional<int64_t> stages;                // `pipeline`
  std::optional<int64_t> evaluations;           // `search`
  std::optional<int64_t> time_budget_ms;        // `search`
  std::optional<int64_t> most_devices;          // `search`
  std::optional<ObjectiveChoice> objective;     // `search`

  // Of patterns that match nodes (CheckConstraintPatterns). `search` meets
  // them; a draft of another strategy that breaks one is refused.
  std::vector<Constraint> constraints;

  // Where all outputs are fetched. Empty: each from the first device that has
  // it.
  std::string output_device;

  // `data`: the batch to shard. Nothing: FindBatch finds it.
  std::optional<Batch> batch;
  // The graph is that of one micro-batch; stages run the micro-batches in this
  // order.
  MicroBatches micro_batches;
  // Another function of the module has placed the variables. Their nodes have
  // these placements, and their readers stay there.
  bool follows_variables = false;
};

// What fits is decided by Objective::needed_bytes. If nothing fits, a strategy
// returns the draft that misses least, and is asked again with lower limits if
// it reads them.

// If a graph follows the variables of another function (PlannerOptions),
// `single` and `data` choose among the devices that store some. `pipeline` and
// `list` act like `pinned`, so that all functions of a module have the same
// stages. `search` takes the best of these.

// The whole graph on one device: `options.device`, or the fastest that fits.
//   1. Candidates: devices that can run every node that is not pinned.
//   2. Each candidate gets the whole graph. Steps are predicted with feeds and
//      fetches, except of devices whose kernels alone take longer than another
//      one's step. The fastest that fits is kept.
absl::StatusOr<Draft> DraftSingle(const PlanRequest& request);
inline constexpr StrategyOption kSingleOptions[] = {
    {.name = "device",
     .argument = "NAME",
     .help = "which one",
     .text = &PlannerOptions::device},
};

// Pinned nodes as pinned, the other nodes near them.
//   1. Pinned nodes go to the devices of their pins.
//   2. In order, each other node goes to the device with most of its operands'
//      bytes; a tie goes to the device that makes the later operand. A reader
//      of a pinned constant or variable goes where that is.
//   3. In reverse order, a node without placed operands goes to its first
//      reader.
//   4. A node that is not connected to a pin goes to the device that runs it
//      fastest.
absl::StatusOr<Draft> DraftPinned(const PlanRequest& request);

// Data parallelism: the batch is sharded over identical devices, each with a
// replica of all weights.
//   1. Replicas: the fastest group of identical, mutually linked devices with
//      at least `options.replicas` devices (default: two). An error if no group
//      has as many as requested. Never more replicas than examples.
//   2. Inputs that hold the batch are split along it, and so are nodes that
//      read split values, if their dimension rules allow (ShardBatch). If a
//      node sums over the batch, as a weight's gradient does, each replica has
//      a partial sum, and partition inserts an all-reduce. Every replica runs
//      the nodes that cannot be split.
//   3. In reverse order, a node with only sharded readers is sharded like them.
//   4. With `options.sharded_update_bytes` each replica updates its shard of
//      large variables and gathers the others (ShardUpdates).
//   5. Constants and variables of pinned nodes are stored with those nodes.
absl::StatusOr<Draft> DraftData(const PlanRequest& request);
inline constexpr StrategyOption kDataOptions[] = {
    {.name = "replicas",
     .argument = "N",
     .help = "how many; default: all identical devices",
     .number = &PlannerOptions::replicas,
     .least = 1,
     .most = 1 << 16},
    {.name = "sharded-updates",
     .argument = "KIB",
     .help = "shard the updates, and the optimizer's state, of variables whose "
             "gradients have at least KIB KiB over the replicas (ZeRO stage "
             "1); default: every replica updates all",
     .number = &PlannerOptions::sharded_update_bytes,
     .most = 1 << 30,
     .unit = 1 << 10,
     .read_by_auto = true},
};

// Consecutive stages of the graph's order, each on its own device. Minimizes
// the time of the slowest stage: its nodes, and the transfer of all values that
// enter it. In training the order is that of the forward nodes, and each
// backward node is at the position of its forward node (fold_backward.h).
//   1. The order is split into at most kMostSegments segments, at the positions
//      with the fewest crossing bytes.
//   2. All orders of devices are tried, equal devices in one order only. With
//      many unequal devices only two orders are tried: fastest first, and the
//      machine's.
//   3. For each, dynamic programming over (segments done, stages used), within
//      the memory of every stage.
//   4. If no split is within the limits, step 3 goes on without them.
// A stage does not include a node that is pinned to another device. If that
// makes stages impossible, pinned nodes are outside the stages.
absl::StatusOr<Draft> DraftPipeline(const PlanRequest& request);
inline constexpr StrategyOption kPipelineOptions[] = {
    {.name = "stages",
     .argument = "N",
     .help = "how many",
     .number = &PlannerOptions::stages,
     .least = 1,
     .most = 1 << 16},
};

// Earliest finish time, one node at a time, within memory: the order of HEFT
// (Topcuoglu, Hariri and Wu 2002) and the memory rule of m-ETF (Jeon et al.,
// Baechi, 2020).
//   1. Upward ranks: the length of the longest path from a node to the end, in
//      mean seconds and mean transfers.
//   2. The ready node with the highest rank goes to the device with room on
//      which it finishes first.
//   3. If the result does not fit, step 2 starts again with the order of the
//      graph, in which fewer values are live.
//   4. If one device alone finishes sooner and everything fits, it is taken.
absl::StatusOr<Draft> DraftList(const PlanRequest& request);

// Local search (Aarts and Lenstra 1997) from the drafts of the other
// strategies.
//   1. Seeds: each device alone, the drafts of the strategies above, the batch
//      over k of n devices, with and without sharded updates, and every node
//      split along one dimension (search_seeds.h).
//   2. The drafts of the strategies above, within memory (strategy_drafts.h),
//      and the splits if evaluations allow, are lowered and simulated: the
//      result is never worse than the best of them.
//   3. Each seed, or in large graphs each of the best, climbs: moves
//      (search_moves.h) that an estimate of the step (draft_timer.h) finds
//      better are kept, until none is or the evaluations are used up. If a
//      seed lacks memory, each climbs twice, the second time with an eighth
//      more: only lowered drafts tell what fits.
//   4. The best climbs, then the seeds that cannot climb, are lowered and
//      simulated. Of a small graph, whose placements of whole nodes are at most
//      half of the evaluations, so are the best of all these by estimate. The
//      best of all climbs on, its moves lowered and simulated, while
//      evaluations are left.
//   5. Within a time budget, steps 3 and 4 run again from the best draft too,
//      with ever more evaluations, until no move is better or the time is over.
// Drafts that miss memory are worse than all that fit; the objective orders
// these (draft_score.h). No draft breaks a constraint (constraint.h): items
// that must stay together move together, and seeds are repaired.
// FailedPrecondition if no such draft was found. Without a time budget the
// number of evaluations decides, never a clock, so the same input gives the
// same plan.
absl::StatusOr<Draft> DraftSearch(const PlanRequest& request);
// The drafts of DraftPinned, DraftData and DraftSingle, each repaired where it
// breaks a constraint, are lowered and simulated; the best is taken.
absl::StatusOr<Draft> FollowSearch(const PlanRequest& request);
// Also for commands that compare strategies.
inline constexpr StrategyOption kObjectiveOption = {
    .name = "objective",
    .argument = "NAME[:SECONDS]",
    .help =
        "what is least: latency, of a step alone; throughput, the time "
        "between steps (default if steps overlap); or memory, the bytes on "
        "the device that needs most, in steps of at most SECONDS",
    .objective = &PlannerOptions::objective,
    .read_by_auto = true};
inline constexpr StrategyOption kSearchOptions[] = {
    kObjectiveOption,
    {.name = "evaluations",
     .argument = "N",
     .help = "how many drafts it estimates; one of 256 is lowered and "
             "simulated; default: 1000000 over the number of nodes, from 16 "
             "to 40000",
     .number = &PlannerOptions::evaluations,
     .least = 1,
     .most = 1 << 30,
     .read_by_auto = true},
    {.name = "time-budget",
     .argument = "SECONDS",
     .help = "take the best placement that is found within this time; the "
             "plan says so, as another run may find another one",
     .number = &PlannerOptions::time_budget_ms,
     .least = 1,
     .most = 24 * 60 * 60,
     .unit = 1000,
     .read_by_auto = true},
    {.name = "most-devices",
     .argument = "N",
     .help = "how many devices may compute; default: all",
     .number = &PlannerOptions::most_devices,
     .least = 1,
     .most = 1 << 16,
     .read_by_auto = true},
};

// In the order in which auto tries them.
inline constexpr Planner kPlanners[] = {
    {.name = "single",
     .doc = "the whole graph on the fastest device with enough memory",
     .draft = DraftSingle,
     .follow = DraftSingle,
     .options = kSingleOptions,
     .reads_memory_limits = true},
    {.name = "pinned",
     .doc = "pinned nodes as pinned, other nodes near their operands",
     .draft = DraftPinned,
     .follow = DraftPinned,
     .needs_pins = true,
     .reads_memory_limits = false},
    {.name = "data",
     .doc = "the batch sharded over replicas on identical devices",
     .draft = DraftData,
     .follow = DraftData,
     .options = kDataOptions,
     .reads_memory_limits = false},
    {.name = "pipeline",
     .doc = "consecutive stages, the slowest of them as fast as possible",
     .draft = DraftPipeline,
     .follow = DraftPinned,
     .options = kPipelineOptions,
     .reads_memory_limits = true},
    {.name = "list",
     .doc = "earliest finish time of each node, within memory",
     .draft = DraftList,
     .follow = DraftPinned,
     .reads_memory_limits = true},
    {.name = "search",
     .doc = "the drafts of the others, improved move by move",
     .draft = DraftSearch,
     .follow = FollowSearch,
     .options = kSearchOptions,
     .lowers_many = true,
     .least_gain = 0.01,
     .reads_memory_limits = true},
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_STRATEGIES_H_
