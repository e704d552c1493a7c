// Compares live ranges, and chooses how to pack them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/conflicts.h"

#include <cstddef>
#include <map>

#include "absl/algorithm/container.h"
#include "placement/lower/pack_by_time.h"

namespace partita {
namespace {

// Up to this many intervals, all pairs are compared.
constexpr size_t kFewIntervals = 2048;

// A packing by time is good enough up to this much above the bound, in
// thousandths.
constexpr int64_t kGoodPerMille = 10;

// The intervals opened so far, by where they end in each stream. An interval
// has ended for a task if the task knows all of its ends, so those that have
// not are in the rest of some stream's list: beyond what the task knows of that
// stream. Only they are visited.
class OpenIntervals {
 public:
  OpenIntervals(size_t intervals, int streams)
      : ends_(streams), visited_(intervals) {}

  void Open(PackIntervalId interval, const LiveRange& live_range) {
    for (const auto& [stream, position] : live_range.ends) {
      ends_[stream].emplace(position, interval);
    }
  }

  // Calls visit(other) once for each one that has not ended for a task that
  // knows `known`, where `interval` begins.
  template <typename Visit>
  void ForEachNotEnded(PackIntervalId interval,
                       IdSpan<DeviceStreamId, int> known, Visit&& visit) {
    for (DeviceStreamId stream : ends_.ids()) {
      const auto rest = ends_[stream].upper_bound(known[stream]);
      for (auto it = rest; it != ends_[stream].end(); ++it) {
        PackIntervalId& last = visited_[it->second];
        if (last == interval) continue;
        last = interval;
        visit(it->second);
      }
    }
  }

 private:
  IdVector<DeviceStreamId, std::multimap<int, PackIntervalId>> ends_;
  // By interval: the last one that it was visited for.
  IdVector<PackIntervalId, PackIntervalId> visited_;
};

}  // namespace

void FindConflicts(const DeviceClocks& clocks, DeviceStorages& storages) {
  const IdVector<PackIntervalId, LiveRange>& live_ranges = storages.live_ranges;
  IdVector<PackIntervalId, PackInterval>& intervals =
      storages.problem.intervals;
  for (PackInterval& interval : intervals) interval.conflicts.clear();
  OpenIntervals open(live_ranges.size(), clocks.num_streams());
  for (PackIntervalId interval : ByFirstAccess(live_ranges)) {
    const LiveRange& live_range = live_ranges[interval];
    open.ForEachNotEnded(interval, live_range.known, [&](PackIntervalId other) {
      if (intervals[other].buffer == intervals[interval].buffer) return;
      intervals[interval].conflicts.push_back(other);
      intervals[other].conflicts.push_back(interval);
    });
    open.Open(interval, live_range);
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
