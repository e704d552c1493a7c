// The bytes of a port that one feed or fetch copies.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_PORT_SHARD_H_
#define PARTITA_RUNTIME_EXECUTOR_PORT_SHARD_H_

#include "runtime/device/blocks.h"
#include "runtime/plan/plan.h"

namespace partita {

// `blocks` has no base: the caller's buffer changes from step to step. The
// first block is `offset` bytes after the start of that buffer.
struct PortShard {
  int64_t offset = 0;
  Blocks blocks;
};

// A port holds the graph's value, or the values of all micro-batches in
// sequence. A feed or fetch copies one micro-batch's value, or the shard of it
// that the stream's device holds.
PortShard ShardOfPort(const Plan& plan, const Entry& entry,
                      const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_PORT_SHARD_H_
