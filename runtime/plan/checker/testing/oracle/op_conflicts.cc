// Finds ops that access the same bytes, or the slot of another op's message.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "runtime/plan/checker/testing/oracle/op_partners.h"

namespace partita {
namespace {

using Kind = Command::Kind;

struct AccessedBytes {
  Addresses reads;
  Addresses writes;
};

AccessedBytes AccessedBy(const Op& op) {
  AccessedBytes accessed;
  const auto append = [](const Addresses& from, Addresses& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const Addresses& operand : op.operands) append(operand, accessed.reads);
  for (const Addresses& result : op.results) append(result, accessed.writes);
  append(op.workspace, accessed.writes);
  std::sort(accessed.reads.begin(), accessed.reads.end());
  std::sort(accessed.writes.begin(), accessed.writes.end());
  return accessed;
}

bool Overlap(const Addresses& a, const Addresses& b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j) return true;
    *i < *j ? ++i : ++j;
  }
  return false;
}

// True for two messages that use the same slot of a channel in sequence.
bool UseTheSameSlot(const Unrolled& unrolled, const Op& a, const Op& b) {
  if (a.what->kind != Kind::kSend || a.what->channel != b.what->channel ||
      a.step != b.step) {
    return false;
  }
  const Channel& channel = unrolled.entry->channels[a.what->channel.index];
  const int slots = static_cast<int>(channel.slots.size());
  return a.number % slots == b.number % slots;
}

void FindSlotAccesses(Unrolled& unrolled,
                      const std::vector<AccessedBytes>& accessed) {
  const int count = static_cast<int>(unrolled.ops.size());
  for (int s = 0; s < count; ++s) {
    Op& send = unrolled.ops[s];
    if (send.slot.empty()) continue;
    Addresses slot = send.slot;
    std::sort(slot.begin(), slot.end());
    for (int i = 0; i < count; ++i) {
      Op& op = unrolled.ops[i];
      if (i == s || UseTheSameSlot(unrolled, op, send)) continue;
      const bool writes =
          Overlap(slot, accessed[i].writes) || Overlap(slot, op.slot);
      if (!writes && !Overlap(slot, accessed[i].reads)) continue;
      op.slot_accesses.push_back({s, writes});
      send.slot_accessed_by.push_back(i);
    }
  }
}

}  // namespace

void FindConflicts(Unrolled& unrolled) {
  std::vector<AccessedBytes> accessed;
  for (const Op& op : unrolled.ops) accessed.push_back(AccessedBy(op));
  const int count = static_cast<int>(unrolled.ops.size());
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (i == j || !(Overlap(accessed[i].writes, accessed[j].writes) ||
                      Overlap(accessed[i].writes, accessed[j].reads) ||
                      Overlap(accessed[i].reads, accessed[j].writes))) {
        continue;
      }
      unrolled.ops[i].conflicts.push_back(j);
    }
  }
  FindSlotAccesses(unrolled, accessed);
}

}  // namespace partita
