// Compares live ranges, and chooses how to pack them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/conflicts.h"

#include "absl/algorithm/container.h"
#include "placement/lower/pack_by_time.h"
#include "placement/lower/stream_knowledge.h"

namespace partita {
namespace {

// Up to this many items, all pairs are compared.
constexpr size_t kFewItems = 2048;

// Opened items between two searches for ended ones.
constexpr int kOpenedBetweenLooks = 32;

// A packing by time is good enough up to this much above the bound, in
// thousandths.
constexpr int64_t kGoodPerMille = 10;

}  // namespace

void FindConflicts(const DeviceClocks& clocks, DeviceStorages& storages) {
  const IdVector<PackItemId, LiveRange>& live_ranges = storages.live_ranges;
  IdVector<PackItemId, PackItem>& items = storages.problem.items;
  StreamKnowledge knowledge(live_ranges, clocks);
  // Items that some stream may not know to have ended.
  std::vector<PackItemId> open;
  int since_look = 0;
  for (PackItemId item : ByFirstAccess(live_ranges)) {
    for (PackItemId other : open) {
      if (items[other].body == items[item].body) continue;
      if (EndedBefore(live_ranges[other], live_ranges[item].known)) continue;
      items[item].conflicts.push_back(other);
      items[other].conflicts.push_back(item);
    }
    open.push_back(item);
    if (++since_look < kOpenedBetweenLooks) continue;
    since_look = 0;
    knowledge.Advance(live_ranges[item].first);
    std::erase_if(open, [&](PackItemId other) {
      return knowledge.AllKnow(live_ranges[other]);
    });
  }
  for (PackItem& item : items) absl::c_sort(item.conflicts);
}

Packing LayOut(DeviceStorages& storages, const DeviceClocks& clocks,
               int64_t budget) {
  if (storages.problem.items.size() > kFewItems) {
    Packing packing = PackByTime(storages, clocks);
    const int64_t above = packing.bytes - storages.bound;
    if (above <= storages.bound / 1000 * kGoodPerMille) return packing;
  }
  FindConflicts(clocks, storages);
  return Pack(storages.problem, storages.bound, budget);
}

}  // namespace partita
