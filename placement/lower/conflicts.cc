// Compares live ranges, and chooses how to pack them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/conflicts.h"

#include "absl/algorithm/container.h"
#include "placement/lower/pack_by_time.h"
#include "placement/lower/stream_knowledge.h"

namespace partita {
namespace {

// Up to this many intervals, all pairs are compared.
constexpr size_t kFewIntervals = 2048;

// Opened intervals between two searches for ended ones.
constexpr int kOpenedBetweenLooks = 32;

// A packing by time is good enough up to this much above the bound, in
// thousandths.
constexpr int64_t kGoodPerMille = 10;

}  // namespace

void FindConflicts(const DeviceClocks& clocks, DeviceStorages& storages) {
  const IdVector<PackIntervalId, LiveRange>& live_ranges = storages.live_ranges;
  IdVector<PackIntervalId, PackInterval>& intervals =
      storages.problem.intervals;
  for (PackInterval& interval : intervals) interval.conflicts.clear();
  StreamKnowledge knowledge(live_ranges, clocks);
  // Intervals that some later task may not know to have ended.
  std::vector<PackIntervalId> open;
  int since_look = 0;
  for (PackIntervalId interval : ByFirstAccess(live_ranges)) {
    for (PackIntervalId other : open) {
      if (intervals[other].buffer == intervals[interval].buffer) continue;
      if (EndedBefore(live_ranges[other], live_ranges[interval].known))
        continue;
      intervals[interval].conflicts.push_back(other);
      intervals[other].conflicts.push_back(interval);
    }
    open.push_back(interval);
    if (++since_look < kOpenedBetweenLooks) continue;
    since_look = 0;
    knowledge.Advance(live_ranges[interval].first);
    std::erase_if(open, [&](PackIntervalId other) {
      return knowledge.AllKnow(live_ranges[other]);
    });
  }
  for (PackInterval& interval : intervals) absl::c_sort(interval.conflicts);
}

Packing LayOut(DeviceStorages& storages, const DeviceClocks& clocks,
               EqualPacks& packs) {
  if (storages.problem.intervals.size() > kFewIntervals) {
    Packing packing = PackByTime(storages, clocks);
    const int64_t above = packing.bytes - storages.bound;
    if (above <= storages.bound / 1000 * kGoodPerMille) return packing;
  }
  FindConflicts(clocks, storages);
  return packs.Pack(storages.problem, storages.bound);
}

}  // namespace partita
