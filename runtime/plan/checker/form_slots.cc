// Form of message slots: only their channel accesses their bytes.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/form.h"

namespace partita {
namespace {

struct Block {
  DeviceId device;
  bool persistent;
  ByteSpan bytes;
  bool slot;
  BufferId buffer;
};

bool Before(const Block& a, const Block& b) {
  if (a.device != b.device) return a.device < b.device;
  if (a.persistent != b.persistent) return a.persistent < b.persistent;
  return a.bytes.begin < b.bytes.begin;
}

bool SamePart(const Block& a, const Block& b) {
  return a.device == b.device && a.persistent == b.persistent;
}

void AddBlocks(const EntryView& view, BufferId id, bool slot,
               std::vector<Block>& blocks) {
  const Buffer& buffer = view.buffer(id);
  ForEachBlock(buffer.range, 0, [&](ByteSpan bytes) {
    blocks.push_back({buffer.device, buffer.persistent, bytes, slot, id});
  });
}

// Buffers that a command or a persistent value uses.
std::vector<bool> UsedBuffers(const EntryView& view) {
  std::vector<bool> used(view.entry->buffers.size());
  for (const Command& command : view.commands) {
    for (BufferId id : command.operands) used[id.index] = true;
    for (BufferId id : command.results) used[id.index] = true;
    if (command.workspace.valid()) used[command.workspace.index] = true;
  }
  for (const PersistentValue& value : view.entry->persistent) {
    used[value.buffer.index] = true;
  }
  return used;
}

// Describes two overlapping blocks, at least one of them a slot.
std::string OverlapText(const EntryView& view, const Block& a, const Block& b) {
  const Block& slot = a.slot ? a : b;
  const Block& other = a.slot ? b : a;
  const std::string text =
      absl::StrCat("the message slot ", view.BufferText(slot.buffer));
  if (other.slot && other.buffer == slot.buffer) {
    return absl::StrCat(text, " for two messages");
  }
  if (other.buffer == slot.buffer) {
    return absl::StrCat(text, " as a buffer of commands, too");
  }
  return absl::StrCat(other.slot ? "the message slot " : "",
                      view.BufferText(other.buffer), " over ", text);
}

}  // namespace

void CheckSlots(const EntryView& view, Findings& findings) {
  std::vector<Block> blocks;
  for (const Channel& channel : view.entry->channels) {
    for (BufferId slot : channel.slots) {
      if (NumBlocks(view.buffer(slot).range) > 1) {
        return findings.Add(view.Found(
            Rule::kSlots, -1,
            absl::StrCat("found the message slot ", view.BufferText(slot),
                         " in ", NumBlocks(view.buffer(slot).range),
                         " blocks; expected one block, as a message is "
                         "contiguous in its slot; use a buffer of one block")));
      }
      if (view.buffer(slot).persistent) {
        return findings.Add(view.Found(
            Rule::kSlots, -1,
            absl::StrCat("found the message slot ", view.BufferText(slot),
                         " in the persistent part; expected it in the "
                         "step-local part, as other entries hold values "
                         "there; move it")));
      }
      AddBlocks(view, slot, /*slot=*/true, blocks);
    }
  }
  if (blocks.empty()) return;
  const std::vector<bool> used = UsedBuffers(view);
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) AddBlocks(view, BufferId(i), /*slot=*/false, blocks);
  }
  std::sort(blocks.begin(), blocks.end(), Before);
  const Block* any = nullptr;   // the block with the largest end so far
  const Block* slot = nullptr;  // the slot with the largest end so far
  for (const Block& block : blocks) {
    const Block* other = block.slot ? any : slot;
    if (other != nullptr && SamePart(*other, block) &&
        other->bytes.end > block.bytes.begin) {
      findings.Add(view.Found(
          Rule::kSlots, -1,
          absl::StrCat("found ", OverlapText(view, *other, block),
                       "; expected a message slot to be its channel's alone; "
                       "use bytes of its own")));
    }
    const auto extend = [&](const Block*& furthest) {
      if (furthest == nullptr || !SamePart(*furthest, block) ||
          furthest->bytes.end < block.bytes.end) {
        furthest = &block;
      }
    };
    extend(any);
    if (block.slot) extend(slot);
  }
}

}  // namespace partita
