// Counts the copies and collectives of one step.
// SPDX-License-Identifier: Apache-2.0

#include "partita/transfer_count.h"

#include "graph/status_macros.h"

namespace partita {
namespace {

int64_t OperandBytes(const Entry& entry, const Command& command) {
  int64_t bytes = 0;
  for (BufferId operand : command.operands) {
    bytes += entry.buffers[operand.index].range.size();
  }
  return bytes;
}

}  // namespace

// A collective has one command a rank.
absl::StatusOr<TransferCount> CountTransfers(const Entry& entry) {
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  TransferCount count;
  for (const Command& command : commands) {
    if (command.kind == Command::Kind::kCopy) {
      ++count.copies;
      count.copied_bytes += OperandBytes(entry, command);
    }
    if (command.kind == Command::Kind::kCollective) {
      count.collectives += command.instance.rank == 0 ? 1 : 0;
      count.collective_bytes += OperandBytes(entry, command);
    }
  }
  return count;
}

}  // namespace partita
