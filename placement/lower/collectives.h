// Finds copies to several devices that one collective can carry out.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_COLLECTIVES_H_
#define PARTITA_PLACEMENT_LOWER_COLLECTIVES_H_

#include <vector>

#include "graph/op_view.h"
#include "placement/lower/plan_draft.h"
#include "placement/machine/link_table.h"

namespace partita {

// What one rank sends and receives: invalid: nothing.
struct CollectiveRank {
  MachineDeviceId device;
  ShardId sends;     // of the operand
  ShardId receives;  // of the result
};

// Returns the ranks of the collective that carries out one micro-batch of a
// copy node, or nothing if copies should do it. The collective is
//   * a broadcast of a value that is stored on one device to two or more other
//     devices, if concurrent copies over the links of the machine take at least
//     as long;
//   * a permute of a split value, if every shard moves to another device: it
//     uses the same links as copies, all at once;
//   * an all_gather or all_to_all of a split value that the same devices need
//     whole or split along another dimension, if a ring takes no longer than
//     copies between all pairs. A variable's new value (`is_update`) is always
//     gathered by an all_gather, because its shards are then computed in place.
// The devices of the node come first, then devices that only send. The root of
// a broadcast already has its shard and receives nothing.
std::vector<CollectiveRank> FindCollective(const PlanDraft& draft,
                                           const OpView& copy,
                                           MicroBatchId micro_batch,
                                           bool is_update,
                                           const LinkTable& links);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_COLLECTIVES_H_
