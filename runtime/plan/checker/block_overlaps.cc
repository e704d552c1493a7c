// Finds overlaps in one sweep by address.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/block_overlaps.h"

#include <algorithm>

namespace partita {
namespace {

bool Before(const UsedBlock& a, const UsedBlock& b) {
  if (a.device != b.device) return a.device < b.device;
  if (a.persistent != b.persistent) return a.persistent < b.persistent;
  return a.bytes.begin < b.bytes.begin;
}

bool SamePart(const UsedBlock& a, const UsedBlock& b) {
  return a.device == b.device && a.persistent == b.persistent;
}

// A block overlaps an earlier one exactly if it overlaps the earlier one with
// the largest end. Blocks that are not exclusive may overlap, so the largest
// end of exclusive blocks is kept apart.
struct LargestEnds {
  const UsedBlock* any = nullptr;
  const UsedBlock* exclusive = nullptr;
};

bool Reaches(const UsedBlock* earlier, const UsedBlock& block) {
  return earlier != nullptr && SamePart(*earlier, block) &&
         earlier->bytes.end > block.bytes.begin;
}

const UsedBlock* Overlapping(const LargestEnds& ends, const UsedBlock& block) {
  if (Reaches(ends.exclusive, block)) return ends.exclusive;
  return block.exclusive && Reaches(ends.any, block) ? ends.any : nullptr;
}

void Extend(const UsedBlock*& furthest, const UsedBlock& block) {
  if (furthest == nullptr || !SamePart(*furthest, block) ||
      furthest->bytes.end < block.bytes.end) {
    furthest = &block;
  }
}

}  // namespace

void AddBlocks(const EntryView& view, BufferId id, bool exclusive,
               std::vector<UsedBlock>& blocks) {
  const Buffer& buffer = view.buffer(id);
  ForEachBlock(buffer.range, 0, [&](ByteSpan bytes) {
    blocks.push_back({buffer.device, buffer.persistent, bytes, exclusive, id});
  });
}

void ForEachOverlap(
    std::vector<UsedBlock> blocks,
    absl::FunctionRef<bool(const UsedBlock& block, const UsedBlock& earlier)>
        visit) {
  std::sort(blocks.begin(), blocks.end(), Before);
  LargestEnds ends;
  for (const UsedBlock& block : blocks) {
    const UsedBlock* earlier = Overlapping(ends, block);
    if (earlier != nullptr && !visit(block, *earlier)) return;
    Extend(ends.any, block);
    if (block.exclusive) Extend(ends.exclusive, block);
  }
}

}  // namespace partita
