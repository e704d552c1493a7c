// Form of message slots: only their channel accesses their bytes.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/block_overlaps.h"
#include "runtime/plan/checker/form.h"

namespace partita {
namespace {

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

// Describes two overlapping blocks; slots are exclusive.
std::string OverlapText(const EntryView& view, const UsedBlock& a,
                        const UsedBlock& b) {
  const UsedBlock& slot = a.exclusive ? a : b;
  const UsedBlock& other = a.exclusive ? b : a;
  const std::string text =
      absl::StrCat("the message slot ", view.BufferText(slot.buffer));
  if (other.exclusive && other.buffer == slot.buffer) {
    return absl::StrCat(text, " for two messages");
  }
  if (other.buffer == slot.buffer) {
    return absl::StrCat(text, " as a buffer of commands, too");
  }
  return absl::StrCat(other.exclusive ? "the message slot " : "",
                      view.BufferText(other.buffer), " over ", text);
}

// "", or why the buffer is no slot.
std::string SlotFault(const EntryView& view, BufferId slot) {
  const Buffer& buffer = view.buffer(slot);
  if (NumBlocks(buffer.range) > 1) {
    return absl::StrCat("found the message slot ", view.BufferText(slot),
                        " in ", NumBlocks(buffer.range),
                        " blocks; expected one block, as a message is "
                        "contiguous in its slot; use a buffer of one block");
  }
  if (buffer.persistent) {
    return absl::StrCat("found the message slot ", view.BufferText(slot),
                        " in the persistent part; expected it in the "
                        "step-local part, as other entries hold values "
                        "there; move it");
  }
  return "";
}

}  // namespace

void CheckSlots(const EntryView& view, Findings& findings) {
  std::vector<UsedBlock> blocks;
  for (const Channel& channel : view.entry->channels) {
    for (BufferId slot : channel.slots) {
      const std::string fault = SlotFault(view, slot);
      if (!fault.empty()) {
        return findings.Add(view.Found(Rule::kSlots, fault));
      }
      AddBlocks(view, slot, /*exclusive=*/true, blocks);
    }
  }
  if (blocks.empty()) return;
  const std::vector<bool> used = UsedBuffers(view);
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) AddBlocks(view, BufferId(i), /*exclusive=*/false, blocks);
  }
  ForEachOverlap(
      std::move(blocks), [&](const UsedBlock& block, const UsedBlock& earlier) {
        findings.Add(view.Found(
            Rule::kSlots,
            absl::StrCat("found ", OverlapText(view, earlier, block),
                         "; expected a message slot to be its channel's alone; "
                         "use bytes of its own")));
        return true;
      });
}

}  // namespace partita
