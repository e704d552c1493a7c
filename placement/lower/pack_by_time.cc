// Best fit among gaps that grow together again.
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

#include "placement/lower/stream_knowledge.h"

namespace partita {
namespace {

class Gaps {
 public:
  // The smallest gap that is large enough, the lowest of equals; else the end,
  // with the gap before it.
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
  // Where a gap begins that reaches the end; the end itself if none does.
  int64_t FreeEnd() const {
    if (by_address_.empty()) return end_;
    const auto [address, bytes] = *by_address_.rbegin();
    return address + bytes == end_ ? address : end_;
  }

  std::map<int64_t, int64_t> by_address_;           // bytes
  std::set<std::pair<int64_t, int64_t>> by_bytes_;  // bytes, address
  int64_t end_ = 0;
};

// The items that have been opened and not yet closed.
class OpenItems {
 public:
  OpenItems(const std::vector<Life>& lives, const Clocks& clocks)
      : lives_(lives), knowledge_(lives, clocks) {}

  void Open(int item) { by_last_.push({lives_[item].last, item}); }

  // Closes what all streams know to have ended when `task` is launched.
  std::vector<int> Close(int task) {
    knowledge_.Advance(task);
    for (; !by_last_.empty() && by_last_.top().first < task; by_last_.pop()) {
      ended_.push_back(by_last_.top().second);
    }
    // Many that some stream learns of late are not asked about every time.
    if (ended_.size() > kFewEnded && ++since_look_ < kFewEnded) return {};
    since_look_ = 0;
    std::vector<int> closed;
    std::erase_if(ended_, [&](int item) {
      if (!knowledge_.AllKnow(lives_[item])) return false;
      closed.push_back(item);
      return true;
    });
    return closed;
  }

 private:
  static constexpr size_t kFewEnded = 32;
  using LastAndItem = std::pair<int, int>;

  const std::vector<Life>& lives_;
  StreamKnowledge knowledge_;
  std::priority_queue<LastAndItem, std::vector<LastAndItem>, std::greater<>>
      by_last_;
  std::vector<int> ended_;  // their last task is launched
  size_t since_look_ = 0;
};

struct Body {
  int64_t bytes = 0;
  int items_left = 0;
};

std::vector<Body> BodiesOf(const PackProblem& problem) {
  std::vector<Body> bodies(problem.num_bodies);
  for (const PackItem& item : problem.items) {
    Body& body = bodies[item.body];
    body.bytes = std::max(body.bytes, AlignUp(item.end));
    ++body.items_left;
  }
  return bodies;
}

}  // namespace

Packing PackByTime(const DeviceStorages& storages, const Clocks& clocks) {
  const std::vector<PackItem>& items = storages.problem.items;
  std::vector<Body> bodies = BodiesOf(storages.problem);
  OpenItems open(storages.lives, clocks);
  Gaps gaps;
  Packing packing;
  packing.addresses.assign(bodies.size(), -1);
  for (int item : ByFirstTouch(storages.lives)) {
    for (int closed : open.Close(storages.lives[item].first)) {
      const int body = items[closed].body;
      if (--bodies[body].items_left > 0) continue;
      gaps.Give(packing.addresses[body], bodies[body].bytes);
    }
    int64_t& address = packing.addresses[items[item].body];
    if (address < 0) address = gaps.Take(bodies[items[item].body].bytes);
    open.Open(item);
  }
  packing.bytes = gaps.end();
  return packing;
}

}  // namespace partita
