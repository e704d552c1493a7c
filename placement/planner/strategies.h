// The strategies, one a file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_STRATEGIES_H_
#define PARTITA_PLACEMENT_PLANNER_STRATEGIES_H_

#include "absl/status/statusor.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// A strategy puts every computing node on a device (followers come after) and
// keeps pins, links and memory limits. RefusalError if memory is what lacks.
using StrategyFn = absl::StatusOr<Draft> (*)(const PlanRequest& request);

// Where a graph follows the variables of another (PlannerOptions), `single` and
// `data` choose among the devices that keep some. `pipeline` and `list` do as
// `pinned` does, so that stages are cut alike in all functions of a module.

// Everything on one device: `options.device`, or the fastest on which it fits.
//   1. Candidates: devices that can run every node that is not pinned.
//   2. Each is filled; the fastest that stays within all limits is kept.
absl::StatusOr<Draft> DraftSingle(const PlanRequest& request);

// The user's pins decide, and what is not pinned stays near what is.
//   1. Pinned nodes go where they are told.
//   2. In order, each other node goes where most of its operands' bytes are, of
//      two devices with as many where the last of them was made;
//      one that reads a pinned constant or variable goes where that is.
//   3. Against the order, what reads nothing placed goes to its first reader.
//   4. What no pin reaches goes to the device that runs it fastest.
absl::StatusOr<Draft> DraftPinned(const PlanRequest& request);

// The batch divided among equal devices, each with a replica of all weights
// (data parallelism).
//   1. Replicas: of the groups of equal devices with links between all of them
//      that have as many as `options.replicas` (two, if it says nothing), the
//      fastest. Where it says how many and no group has them, it is refused;
//      never more than there are examples.
//   2. Inputs whose leading extent is that of the first input are divided along
//      it. In order, a node that reads a divided value is divided with it if
//      its dimension rule allows; where that factor is summed over, as in a
//      weight's gradient, each replica has a partial sum, and partition joins
//      them. What cannot be divided is computed by every replica.
//   3. Against the order, what only divided nodes read is divided like them.
//   4. With `options.divided_update_bytes` each replica updates its part of
//      large variables, and gets the others' (DivideUpdates).
//   5. Constants and variables of pinned nodes lie where those are.
absl::StatusOr<Draft> DraftData(const PlanRequest& request);

// Consecutive stages of the graph's order, each on a device of its own, such
// that the slowest stage (its nodes, and the transfer of all values that enter
// it) is as fast as it can be. In training the order is that of the forward
// nodes, and each backward node stands beside its own (fold_backward.h).
//   1. The order is cut into at most kMostPieces pieces, at its thinnest
//   places.
//   2. Orders of devices are tried, equal devices in one order only; with many
//      unequal ones only the fastest first and the machine's own order.
//   3. For each, dynamic programming over (pieces done, stages used), within
//      the memory of every stage.
//   4. The best that holds by the whole estimate is kept; a device that falls
//      short there gets a lower limit and step 2 starts again.
// A stage does not take in a node that is pinned elsewhere; if that leaves no
// way, pinned nodes stand outside the stages.
absl::StatusOr<Draft> DraftPipeline(const PlanRequest& request);

// The earliest finish, one node at a time, within memory: the order of HEFT
// (Topcuoglu, Hariri and Wu 2002) and the memory rule of m-ETF (Jeon et al.,
// Baechi, 2020).
//   1. Upward ranks: the longest way from a node to the end, mean seconds and
//      mean transfers counted.
//   2. Of the nodes whose operands are placed, the one of the highest rank goes
//      to the device on which it finishes first and has room.
//   3. If the estimate of the whole still exceeds a limit, that limit is
//   lowered
//      by what is missing and step 2 starts again.
//   4. If one device alone finishes sooner and holds everything, it is taken.
absl::StatusOr<Draft> DraftList(const PlanRequest& request);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_STRATEGIES_H_
