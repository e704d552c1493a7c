// Overlaps among the blocks that commands and message slots use.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_BLOCK_OVERLAPS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_BLOCK_OVERLAPS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// One block of a buffer's range.
struct UsedBlock {
  DeviceId device;
  bool persistent = false;
  ByteSpan bytes;          // relative to the buffer's part of the arena
  bool exclusive = false;  // no other block may have a byte of it
  BufferId buffer;
};

// Appends the blocks of a buffer.
void AddBlocks(const EntryView& view, BufferId id, bool exclusive,
               std::vector<UsedBlock>& blocks);

// Calls visit(block, earlier) for each block, by address, that shares a byte
// with an earlier one, if at least one of them is exclusive, with one such
// earlier block; until it returns false.
void ForEachOverlap(
    std::vector<UsedBlock> blocks,
    absl::FunctionRef<bool(const UsedBlock& block, const UsedBlock& earlier)>
        visit);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_BLOCK_OVERLAPS_H_
