// Best fit among gaps that merge when they are freed.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pack_by_time.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "graph/id_vector.h"

namespace partita {
namespace {

// A byte of the arena of a stream.
struct Place {
  friend auto operator<=>(const Place&, const Place&) = default;
  Place operator+(int64_t bytes) const { return {arena, offset + bytes}; }

  DeviceStreamId arena;
  int64_t offset = 0;
};

// The ranges that a stream may allocate: of its own arena, and those of others
// that it took over. Best fit keeps large gaps whole, and neighbours merge when
// they are freed (Knuth, The Art of Computer Programming, vol. 1, section 2.5).
// Two indices make both O(log n).
class FreeList {
 public:
  explicit FreeList(DeviceStreamId own) : end_{own, 0} {}

  // True if a gap is large enough.
  bool Fits(int64_t bytes) const {
    return by_bytes_.lower_bound({bytes, {}}) != by_bytes_.end();
  }

  // The smallest gap that is large enough, of equal ones the lowest. If there
  // is none, extends the end of the own arena, including a gap that reaches it.
  Place Allocate(int64_t bytes) {
    const auto fit = by_bytes_.lower_bound({bytes, {}});
    if (fit != by_bytes_.end()) {
      const auto [size, place] = *fit;
      Erase(place);
      if (size > bytes) Insert(place + bytes, size - bytes);
      return place;
    }
    const Place place = FreeEnd();
    if (place < end_) Erase(place);
    end_ = place + bytes;
    return place;
  }

  void Free(Place place, int64_t bytes) {
    const auto next = by_place_.lower_bound(place);
    if (next != by_place_.end() && next->first == place + bytes) {
      bytes += next->second;
      Erase(next->first);
    }
    const auto after = by_place_.lower_bound(place);
    if (after != by_place_.begin()) {
      const auto [before, size] = *std::prev(after);
      if (before + size == place) {
        Erase(before);
        place = before;
        bytes += size;
      }
    }
    Insert(place, bytes);
  }

  // Of the own arena.
  int64_t end() const { return end_.offset; }

 private:
  void Insert(Place place, int64_t bytes) {
    by_place_[place] = bytes;
    by_bytes_.insert({bytes, place});
  }
  void Erase(Place place) {
    const auto gap = by_place_.find(place);
    by_bytes_.erase({gap->second, place});
    by_place_.erase(gap);
  }
  // The start of the gap that reaches the end, or the end.
  Place FreeEnd() const {
    const auto after = by_place_.lower_bound(end_);
    if (after == by_place_.begin()) return end_;
    const auto [place, bytes] = *std::prev(after);
    return place + bytes == end_ ? place : end_;
  }

  std::map<Place, int64_t> by_place_;             // bytes
  std::set<std::pair<int64_t, Place>> by_bytes_;  // bytes, place
  Place end_;
};

struct Allocation {
  int64_t bytes = 0;
  int intervals = 0;
  TaskId first;          // its first task
  DeviceStreamId arena;  // of that task; invalid: never shares its bytes
  std::optional<Place> place;
  int closed = 0;        // intervals whose end the stream of the arena knows
  bool is_free = false;  // its bytes are in a free list, or were
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
    ++buffer.intervals;
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

// The buffers that one stream knows to have ended, in arenas of other streams.
// An interval waits for one end that the stream does not know yet; once it
// does, for another one. So each end is looked at once.
class EndedElsewhere {
 public:
  EndedElsewhere(const DeviceStorages& storages, int streams)
      : storages_(&storages),
        waiting_(streams),
        ended_intervals_(storages.problem.num_buffers, 0) {}

  // `opened`: the intervals opened so far, in all arenas. `own`: the arena of
  // the stream, which knows `known`.
  void Learn(DeviceStreamId own, const std::vector<PackIntervalId>& opened,
             IdSpan<DeviceStreamId, int> known,
             const IdVector<PackBufferId, Allocation>& buffers) {
    for (; num_seen_ < opened.size(); ++num_seen_) {
      const PackIntervalId interval = opened[num_seen_];
      if (buffers[BufferOf(interval)].arena == own) continue;
      Wait(interval, known, buffers);
    }
    for (DeviceStreamId stream : waiting_.ids()) {
      auto& waiting = waiting_[stream];
      while (!waiting.empty() && waiting.top().first <= known[stream]) {
        const PackIntervalId interval = waiting.top().second;
        waiting.pop();
        Wait(interval, known, buffers);
      }
    }
  }

  // Removes the smallest buffer with at least so many bytes whose bytes no
  // stream has freed.
  std::optional<PackBufferId> Take(
      int64_t bytes, const IdVector<PackBufferId, Allocation>& buffers) {
    auto fit = ended_.lower_bound({bytes, PackBufferId(0)});
    while (fit != ended_.end()) {
      const PackBufferId buffer = fit->second;
      fit = ended_.erase(fit);
      if (!buffers[buffer].is_free) return buffer;
    }
    return std::nullopt;
  }

 private:
  using EndAndInterval = std::pair<int, PackIntervalId>;

  PackBufferId BufferOf(PackIntervalId interval) const {
    return storages_->problem.intervals[interval].buffer;
  }

  void Wait(PackIntervalId interval, IdSpan<DeviceStreamId, int> known,
            const IdVector<PackBufferId, Allocation>& buffers) {
    for (const auto& [stream, end] : storages_->live_ranges[interval].ends) {
      if (known[stream] >= end) continue;
      waiting_[stream].push({end, interval});
      return;
    }
    const PackBufferId buffer = BufferOf(interval);
    if (++ended_intervals_[buffer] < buffers[buffer].intervals) return;
    ended_.insert({buffers[buffer].bytes, buffer});
  }

  const DeviceStorages* storages_;
  size_t num_seen_ = 0;  // of the opened intervals
  IdVector<DeviceStreamId,
           std::priority_queue<EndAndInterval, std::vector<EndAndInterval>,
                               std::greater<>>>
      waiting_;
  IdVector<PackBufferId, int> ended_intervals_;
  std::set<std::pair<int64_t, PackBufferId>> ended_;  // bytes, buffer
};

// Tasks of one stream end in launch order. Within its own arena a stream can
// hand bytes from one buffer to the next without a comparison with other
// streams; that is what makes this fast. A stream that would have to extend its
// arena first takes over a buffer of another one. In a pipeline, the stream
// that receives activations never learns when they have been read, but the
// stream of the kernels does, and needs their bytes for what it sends.

// The arena of one stream.
struct StreamArena {
  OpenIntervals open;
  FreeList free_list;
  EndedElsewhere elsewhere;
};

class TimePacker {
 public:
  TimePacker(const DeviceStorages& storages, const DeviceClocks& clocks)
      : storages_(storages),
        clocks_(clocks),
        buffers_(BuffersOf(storages, clocks)) {
    for (DeviceStreamId stream :
         IdRange<DeviceStreamId>(clocks.num_streams())) {
      arenas_.Add({OpenIntervals(storages.live_ranges), FreeList(stream),
                   EndedElsewhere(storages, clocks.num_streams())});
    }
  }

  Packing Run() {
    for (PackIntervalId interval : ByFirstAccess(storages_.live_ranges)) {
      Allocation& buffer =
          buffers_[storages_.problem.intervals[interval].buffer];
      if (!buffer.arena.valid()) continue;
      if (!buffer.place.has_value()) Allocate(buffer);
      arenas_[buffer.arena].open.Open(interval);
      opened_.push_back(interval);
    }
    return Concatenate();
  }

 private:
  void Allocate(Allocation& buffer) {
    StreamArena& arena = arenas_[buffer.arena];
    const IdSpan<DeviceStreamId, int> known = clocks_.Known(buffer.first);
    for (PackIntervalId closed : arena.open.Close(buffer.first, known)) {
      Allocation& other = buffers_[storages_.problem.intervals[closed].buffer];
      if (++other.closed == other.intervals) Free(other, arena);
    }
    if (!arena.free_list.Fits(buffer.bytes)) {
      arena.elsewhere.Learn(buffer.arena, opened_, known, buffers_);
      const std::optional<PackBufferId> other =
          arena.elsewhere.Take(buffer.bytes, buffers_);
      if (other.has_value()) Free(buffers_[*other], arena);
    }
    buffer.place = arena.free_list.Allocate(buffer.bytes);
  }

  // Adds the bytes of the buffer to the free list, unless another stream did.
  static void Free(Allocation& buffer, StreamArena& arena) {
    if (buffer.is_free) return;
    buffer.is_free = true;
    arena.free_list.Free(*buffer.place, buffer.bytes);
  }

  // Places the arenas in sequence, then the buffers that never share bytes.
  Packing Concatenate() const {
    Packing packing;
    IdVector<DeviceStreamId, int64_t> begins;
    for (const StreamArena& arena : arenas_) {
      begins.Add(packing.bytes);
      packing.bytes += arena.free_list.end();
    }
    for (const Allocation& buffer : buffers_) {
      if (buffer.place.has_value()) {
        packing.offsets.Add(begins[buffer.place->arena] + buffer.place->offset);
        continue;
      }
      packing.offsets.Add(packing.bytes);
      packing.bytes += buffer.bytes;
    }
    return packing;
  }

  const DeviceStorages& storages_;
  const DeviceClocks& clocks_;
  IdVector<PackBufferId, Allocation> buffers_;
  IdVector<DeviceStreamId, StreamArena> arenas_;
  std::vector<PackIntervalId> opened_;
};

}  // namespace

Packing PackByTime(const DeviceStorages& storages, const DeviceClocks& clocks) {
  return TimePacker(storages, clocks).Run();
}

}  // namespace partita
