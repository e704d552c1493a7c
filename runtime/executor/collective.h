// The work of one rank in a collective, between the threads of one process.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COLLECTIVE_H_
#define PARTITA_RUNTIME_EXECUTOR_COLLECTIVE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/op_view.h"
#include "runtime/device/blocks.h"
#include "runtime/device/device.h"
#include "runtime/executor/combine.h"

namespace partita {

// A null base stands for the caller's buffer, which changes from step to step.
struct Transfer {
  Blocks to;
  Blocks from;
};

// The work of one rank, between two barriers of all ranks:
//
//   barrier 0
//     reduce: combine this rank's interval of the operands of all ranks, in the
//             order of ranks, and write it to each of `reduce_into`
//     fetch:  copy this rank's result from the operands of the other ranks
//   barrier 1
//
// all_reduce: each rank reduces another interval and writes it to all results.
// reduce_scatter: each rank reduces its own shard. all_gather, all_to_all,
// broadcast, permute: each rank fetches; the root of a broadcast only waits. No
// rank writes bytes that another rank reads at the same time, in place or not,
// and no rank leaves before all have finished.
struct RankWork {
  CombineFunction combine = nullptr;       // null: no reduction
  std::vector<const std::byte*> operands;  // by rank
  Blocks interval;                      // of an operand, to reduce; base unused
  int64_t interval_offset = 0;          // of its first block, in bytes
  int64_t elements = 0;                 // of one block
  std::vector<std::byte*> reduce_into;  // each contiguous
  std::vector<Transfer> fetches;
};

// The work of rank `rank` for value `value` of the collective `node`.
// `operands` and `results` are addresses by rank; null for a rank without an
// operand or without a result.
// Unimplemented if the dtype has no such reduction, or if the collective
// reshards a value that is not row-major.
absl::StatusOr<RankWork> BindCollective(const OpView& node, int value, int rank,
                                        const std::vector<std::byte*>& operands,
                                        const std::vector<std::byte*>& results);

// Reduces on the calling thread, and fetches by `stream`.
absl::Status RunRankWork(const RankWork& work, DeviceStream& stream);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COLLECTIVE_H_
