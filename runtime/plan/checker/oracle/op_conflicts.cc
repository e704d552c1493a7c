// Ops that touch the same bytes, or the slot of another's message.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "runtime/plan/checker/oracle/op_partners.h"

namespace partita {
namespace {

using Kind = Command::Kind;

struct Touched {
  Addresses reads;
  Addresses writes;
};

Touched TouchedBy(const Op& op) {
  Touched touched;
  const auto append = [](const Addresses& from, Addresses& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const Addresses& operand : op.operands) append(operand, touched.reads);
  for (const Addresses& result : op.results) append(result, touched.writes);
  append(op.workspace, touched.writes);
  std::sort(touched.reads.begin(), touched.reads.end());
  std::sort(touched.writes.begin(), touched.writes.end());
  return touched;
}

bool Meet(const Addresses& a, const Addresses& b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j) return true;
    *i < *j ? ++i : ++j;
  }
  return false;
}

// Messages of one slot of a channel follow one another.
bool ShareASlot(const Unrolled& unrolled, const Op& a, const Op& b) {
  if (a.what->kind != Kind::kSend || a.what->channel != b.what->channel ||
      a.step != b.step) {
    return false;
  }
  const Channel& channel = unrolled.entry->channels[a.what->channel.index];
  const int slots = static_cast<int>(channel.slots.size());
  return a.number % slots == b.number % slots;
}

void FindSlotTouches(Unrolled& unrolled, const std::vector<Touched>& touched) {
  const int count = static_cast<int>(unrolled.ops.size());
  for (int s = 0; s < count; ++s) {
    Op& send = unrolled.ops[s];
    if (send.slot.empty()) continue;
    Addresses slot = send.slot;
    std::sort(slot.begin(), slot.end());
    for (int i = 0; i < count; ++i) {
      Op& op = unrolled.ops[i];
      if (i == s || ShareASlot(unrolled, op, send)) continue;
      const bool writes = Meet(slot, touched[i].writes) || Meet(slot, op.slot);
      if (!writes && !Meet(slot, touched[i].reads)) continue;
      op.slot_touches.push_back({s, writes});
      send.slot_touched_by.push_back(i);
    }
  }
}

}  // namespace

void FindConflicts(Unrolled& unrolled) {
  std::vector<Touched> touched;
  for (const Op& op : unrolled.ops) touched.push_back(TouchedBy(op));
  const int count = static_cast<int>(unrolled.ops.size());
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (i == j || !(Meet(touched[i].writes, touched[j].writes) ||
                      Meet(touched[i].writes, touched[j].reads) ||
                      Meet(touched[i].reads, touched[j].writes))) {
        continue;
      }
      unrolled.ops[i].conflicts.push_back(j);
    }
  }
  FindSlotTouches(unrolled, touched);
}

}  // namespace partita
