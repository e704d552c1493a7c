// Best fit among gaps that merge when they are freed.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pack_by_time.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "graph/id_vector.h"

namespace partita {
namespace {

// The free ranges of an arena. Best fit keeps large gaps whole, and neighbours
// merge when they are freed (Knuth, The Art of Computer Programming, vol. 1,
// section 2.5). Two indices make both O(log n).
class FreeList {
 public:
  // The smallest gap that is large enough, of equal ones the lowest. If
  // there is none, extends the end, including a gap that reaches it.
  int64_t Allocate(int64_t bytes) {
    const auto fit = by_bytes_.lower_bound({bytes, 0});
    if (fit != by_bytes_.end()) {
      const auto [size, offset] = *fit;
      Erase(offset);
      if (size > bytes) Insert(offset + bytes, size - bytes);
      return offset;
    }
    const int64_t offset = FreeEnd();
    if (offset < end_) Erase(offset);
    end_ = offset + bytes;
    return offset;
  }

  void Free(int64_t offset, int64_t bytes) {
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      Erase(next->first);
    }
    const auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.begin()) {
      const auto [before, size] = *std::prev(after);
      if (before + size == offset) {
        Erase(before);
        offset = before;
        bytes += size;
      }
    }
    Insert(offset, bytes);
  }

  int64_t end() const { return end_; }

 private:
  void Insert(int64_t offset, int64_t bytes) {
    by_offset_[offset] = bytes;
    by_bytes_.insert({bytes, offset});
  }
  void Erase(int64_t offset) {
    const auto gap = by_offset_.find(offset);
    by_bytes_.erase({gap->second, offset});
    by_offset_.erase(gap);
  }
  // The start of the gap that reaches the end, or the end.
  int64_t FreeEnd() const {
    if (by_offset_.empty()) return end_;
    const auto [offset, bytes] = *by_offset_.rbegin();
    return offset + bytes == end_ ? offset : end_;
  }

  std::map<int64_t, int64_t> by_offset_;            // bytes
  std::set<std::pair<int64_t, int64_t>> by_bytes_;  // bytes, offset
  int64_t end_ = 0;
};

struct Allocation {
  int64_t bytes = 0;
  int intervals_left = 0;
  TaskId first;          // its first task
  DeviceStreamId arena;  // of that task; invalid: never shares its bytes
  int64_t offset = -1;
};

IdVector<PackBufferId, Allocation> BuffersOf(const DeviceStorages& storages,
                                             const DeviceClocks& clocks) {
  IdVector<PackBufferId, Allocation> buffers(storages.problem.num_buffers);
  const IdVector<PackIntervalId, PackInterval>& intervals =
      storages.problem.intervals;
  for (PackIntervalId interval : ByFirstAccess(storages.live_ranges)) {
    const LiveRange& live_range = storages.live_ranges[interval];
    Allocation& buffer = buffers[intervals[interval].buffer];
    buffer.bytes = std::max(buffer.bytes, AlignUp(intervals[interval].end));
    ++buffer.intervals_left;
    // Intervals come by first access, so the first one names the stream that
    // allocates the buffer.
    if (!buffer.first.valid()) {
      buffer.first = live_range.first;
      buffer.arena = clocks.stream(live_range.first);
    }
    // A buffer may share bytes only if every accessing task knows what the
    // first one knew, which is the common case.
    const IdSpan<DeviceStreamId, int> known = clocks.Known(buffer.first);
    for (DeviceStreamId s : known.ids()) {
      if (live_range.known[s] < known[s]) buffer.arena = {};
    }
  }
  return buffers;
}

// The intervals that one stream was the first to access and does not yet know
// to have ended.
class OpenIntervals {
 public:
  explicit OpenIntervals(const IdVector<PackIntervalId, LiveRange>& live_ranges)
      : live_ranges_(&live_ranges) {}

  void Open(PackIntervalId interval) {
    by_last_.push({(*live_ranges_)[interval].last, interval});
  }

  // Closes the intervals that are known to have ended when the stream launches
  // `task`.
  std::vector<PackIntervalId> Close(TaskId task,
                                    IdSpan<DeviceStreamId, int> known) {
    std::vector<PackIntervalId> closed;
    for (; !by_last_.empty() && by_last_.top().first < task; by_last_.pop()) {
      const PackIntervalId interval = by_last_.top().second;
      const bool is_known = EndedBefore((*live_ranges_)[interval], known);
      (is_known ? closed : ended_).push_back(interval);
    }
    // An interval whose last task was launched may still run in another stream.
    // Its bytes are free only for a task that has waited for that stream.
    //
    // If many intervals wait for the stream to learn of their end, checks them
    // less often.
    if (ended_.size() > kFewEnded && ++since_look_ < ended_.size() / 32) {
      return closed;
    }
    since_look_ = 0;
    std::erase_if(ended_, [&](PackIntervalId interval) {
      if (!EndedBefore((*live_ranges_)[interval], known)) return false;
      closed.push_back(interval);
      return true;
    });
    return closed;
  }

 private:
  static constexpr size_t kFewEnded = 32;
  using LastAndInterval = std::pair<TaskId, PackIntervalId>;

  const IdVector<PackIntervalId, LiveRange>* live_ranges_;
  std::priority_queue<LastAndInterval, std::vector<LastAndInterval>,
                      std::greater<>>
      by_last_;
  std::vector<PackIntervalId> ended_;  // last task launched, end not yet known
  size_t since_look_ = 0;
};

// Tasks of one stream end in launch order. Within its own arena a stream can
// hand bytes from one buffer to the next without a comparison with other
// streams; that is what makes this fast, and wasteful if streams are busy in
// turn.

// The arena of one stream.
struct StreamArena {
  OpenIntervals open;
  FreeList free_list;
};

// Places the arenas in sequence, then the buffers that never share bytes.
Packing Concatenate(const IdVector<DeviceStreamId, StreamArena>& arenas,
                    const IdVector<PackBufferId, Allocation>& buffers) {
  Packing packing;
  IdVector<DeviceStreamId, int64_t> begins;
  for (const StreamArena& arena : arenas) {
    begins.Add(packing.bytes);
    packing.bytes += arena.free_list.end();
  }
  for (const Allocation& buffer : buffers) {
    if (buffer.arena.valid()) {
      packing.offsets.Add(begins[buffer.arena] + buffer.offset);
      continue;
    }
    packing.offsets.Add(packing.bytes);
    packing.bytes += buffer.bytes;
  }
  return packing;
}

}  // namespace

Packing PackByTime(const DeviceStorages& storages, const DeviceClocks& clocks) {
  const IdVector<PackIntervalId, PackInterval>& intervals =
      storages.problem.intervals;
  IdVector<PackBufferId, Allocation> buffers = BuffersOf(storages, clocks);
  IdVector<DeviceStreamId, StreamArena> arenas(
      clocks.num_streams(), {OpenIntervals(storages.live_ranges), FreeList()});
  for (PackIntervalId interval : ByFirstAccess(storages.live_ranges)) {
    Allocation& buffer = buffers[intervals[interval].buffer];
    if (!buffer.arena.valid()) continue;
    StreamArena& arena = arenas[buffer.arena];
    if (buffer.offset < 0) {
      for (PackIntervalId closed :
           arena.open.Close(buffer.first, clocks.Known(buffer.first))) {
        Allocation& other = buffers[intervals[closed].buffer];
        if (--other.intervals_left > 0) continue;
        arena.free_list.Free(other.offset, other.bytes);
      }
      buffer.offset = arena.free_list.Allocate(buffer.bytes);
    }
    arena.open.Open(interval);
  }
  return Concatenate(arenas, buffers);
}

}  // namespace partita
