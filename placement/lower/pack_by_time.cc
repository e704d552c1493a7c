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
class Gaps {
 public:
  // Takes the smallest gap that is large enough, of equal ones the lowest. If
  // there is none, extends the end, including a gap that reaches it.
  int64_t Take(int64_t bytes) {
    const auto fit = by_bytes_.lower_bound({bytes, 0});
    if (fit != by_bytes_.end()) {
      const auto [size, address] = *fit;
      Erase(address);
      if (size > bytes) Insert(address + bytes, size - bytes);
      return address;
    }
    const int64_t address = FreeEnd();
    if (address < end_) Erase(address);
    end_ = address + bytes;
    return address;
  }

  void Give(int64_t address, int64_t bytes) {
    const auto next = by_address_.lower_bound(address);
    if (next != by_address_.end() && next->first == address + bytes) {
      bytes += next->second;
      Erase(next->first);
    }
    const auto after = by_address_.lower_bound(address);
    if (after != by_address_.begin()) {
      const auto [before, size] = *std::prev(after);
      if (before + size == address) {
        Erase(before);
        address = before;
        bytes += size;
      }
    }
    Insert(address, bytes);
  }

  int64_t end() const { return end_; }

 private:
  void Insert(int64_t address, int64_t bytes) {
    by_address_[address] = bytes;
    by_bytes_.insert({bytes, address});
  }
  void Erase(int64_t address) {
    const auto gap = by_address_.find(address);
    by_bytes_.erase({gap->second, address});
    by_address_.erase(gap);
  }
  // The start of the gap that reaches the end, or the end.
  int64_t FreeEnd() const {
    if (by_address_.empty()) return end_;
    const auto [address, bytes] = *by_address_.rbegin();
    return address + bytes == end_ ? address : end_;
  }

  std::map<int64_t, int64_t> by_address_;           // bytes
  std::set<std::pair<int64_t, int64_t>> by_bytes_;  // bytes, address
  int64_t end_ = 0;
};

struct Body {
  int64_t bytes = 0;
  int items_left = 0;
  TaskId first;          // its first task
  DeviceStreamId arena;  // of that task; invalid: never shares its bytes
  int64_t address = -1;
};

IdVector<PackBodyId, Body> BodiesOf(const DeviceStorages& storages,
                                    const DeviceClocks& clocks) {
  IdVector<PackBodyId, Body> bodies(storages.problem.num_bodies);
  const IdVector<PackItemId, PackItem>& items = storages.problem.items;
  for (PackItemId item : ByFirstAccess(storages.live_ranges)) {
    const LiveRange& live_range = storages.live_ranges[item];
    Body& body = bodies[items[item].body];
    body.bytes = std::max(body.bytes, AlignUp(items[item].end));
    ++body.items_left;
    // Items come by first access, so the first one names the stream that
    // allocates the body.
    if (!body.first.valid()) {
      body.first = live_range.first;
      body.arena = clocks.stream(live_range.first);
    }
    // A body may share bytes only if every accessing task knows what the first
    // one knew, which is the common case.
    const IdSpan<DeviceStreamId, int> known = clocks.Known(body.first);
    for (DeviceStreamId s : known.ids()) {
      if (live_range.known[s] < known[s]) body.arena = {};
    }
  }
  return bodies;
}

// The items that one stream was the first to access and does not yet know to
// have ended.
class OpenItems {
 public:
  explicit OpenItems(const IdVector<PackItemId, LiveRange>& live_ranges)
      : live_ranges_(&live_ranges) {}

  void Open(PackItemId item) {
    by_last_.push({(*live_ranges_)[item].last, item});
  }

  // Closes the items that are known to have ended when the stream launches
  // `task`.
  std::vector<PackItemId> Close(TaskId task,
                                IdSpan<DeviceStreamId, int> known) {
    std::vector<PackItemId> closed;
    for (; !by_last_.empty() && by_last_.top().first < task; by_last_.pop()) {
      const PackItemId item = by_last_.top().second;
      const bool is_known = EndedBefore((*live_ranges_)[item], known);
      (is_known ? closed : ended_).push_back(item);
    }
    // An item whose last task was launched may still run in another stream. Its
    // bytes are free only for a task that has waited for that stream.
    //
    // If many items wait for the stream to learn of their end, checks them less
    // often.
    if (ended_.size() > kFewEnded && ++since_look_ < ended_.size() / 32) {
      return closed;
    }
    since_look_ = 0;
    std::erase_if(ended_, [&](PackItemId item) {
      if (!EndedBefore((*live_ranges_)[item], known)) return false;
      closed.push_back(item);
      return true;
    });
    return closed;
  }

 private:
  static constexpr size_t kFewEnded = 32;
  using LastAndItem = std::pair<TaskId, PackItemId>;

  const IdVector<PackItemId, LiveRange>* live_ranges_;
  std::priority_queue<LastAndItem, std::vector<LastAndItem>, std::greater<>>
      by_last_;
  std::vector<PackItemId> ended_;  // last task launched, end not yet known
  size_t since_look_ = 0;
};

// Tasks of one stream end in launch order. Within its own arena a stream can
// hand bytes from one body to the next without a comparison with other streams;
// that is what makes this fast, and wasteful if streams are busy in turn.

// The arena of one stream.
struct StreamArena {
  OpenItems open;
  Gaps gaps;
};

// Places the arenas in sequence, then the bodies that never share bytes.
Packing Concatenate(const IdVector<DeviceStreamId, StreamArena>& arenas,
                    const IdVector<PackBodyId, Body>& bodies) {
  Packing packing;
  IdVector<DeviceStreamId, int64_t> begins;
  for (const StreamArena& arena : arenas) {
    begins.Add(packing.bytes);
    packing.bytes += arena.gaps.end();
  }
  for (const Body& body : bodies) {
    if (body.arena.valid()) {
      packing.addresses.Add(begins[body.arena] + body.address);
      continue;
    }
    packing.addresses.Add(packing.bytes);
    packing.bytes += body.bytes;
  }
  return packing;
}

}  // namespace

Packing PackByTime(const DeviceStorages& storages, const DeviceClocks& clocks) {
  const IdVector<PackItemId, PackItem>& items = storages.problem.items;
  IdVector<PackBodyId, Body> bodies = BodiesOf(storages, clocks);
  IdVector<DeviceStreamId, StreamArena> arenas(
      clocks.num_streams(), {OpenItems(storages.live_ranges), Gaps()});
  for (PackItemId item : ByFirstAccess(storages.live_ranges)) {
    Body& body = bodies[items[item].body];
    if (!body.arena.valid()) continue;
    StreamArena& arena = arenas[body.arena];
    if (body.address < 0) {
      for (PackItemId closed :
           arena.open.Close(body.first, clocks.Known(body.first))) {
        Body& other = bodies[items[closed].body];
        if (--other.items_left > 0) continue;
        arena.gaps.Give(other.address, other.bytes);
      }
      body.address = arena.gaps.Take(body.bytes);
    }
    arena.open.Open(item);
  }
  return Concatenate(arenas, bodies);
}

}  // namespace partita
