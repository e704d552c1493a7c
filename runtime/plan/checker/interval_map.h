// A map from intervals of bytes of one arena to values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_INTERVAL_MAP_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_INTERVAL_MAP_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"

namespace partita {

// Disjoint, non-empty intervals, each with a T; other bytes have no value. When
// an interval is split, `value.Shift(bytes)` adapts the T of the second part,
// which starts `bytes` later.
template <typename T>
class IntervalMap {
 public:
  struct Interval {
    int64_t end;
    T value;
  };
  using Map = absl::btree_map<int64_t, Interval>;

  // Removes every byte of [begin, end) from the map.
  void Erase(int64_t begin, int64_t end) {
    if (begin >= end) return;
    SplitAt(begin);
    SplitAt(end);
    map_.erase(map_.lower_bound(begin), map_.lower_bound(end));
  }

  // Makes [begin, end) one interval with `value`.
  void Set(int64_t begin, int64_t end, T value) {
    if (begin >= end) return;
    Erase(begin, end);
    map_.insert({begin, {end, std::move(value)}});
  }

  // Calls visit(begin, end, const T*) for the intervals and gaps of [begin,
  // end) in order, with null for a gap, until it returns false.
  template <typename Visit>
  void ForEach(int64_t begin, int64_t end, Visit&& visit) const {
    int64_t at = begin;
    for (auto it = FirstReaching(begin); at < end; ++it) {
      const bool last = it == map_.end() || it->first >= end;
      const int64_t gap_end = last ? end : it->first;
      if (at < gap_end && !visit(at, gap_end, nullptr)) return;
      if (last) return;
      const int64_t from = it->first > begin ? it->first : begin;
      const int64_t to = it->second.end < end ? it->second.end : end;
      // Only a part that begins later needs a T of its own.
      std::optional<T> later;
      if (from > it->first) {
        later = it->second.value;
        later->Shift(from - it->first);
      }
      if (!visit(from, to, later.has_value() ? &*later : &it->second.value)) {
        return;
      }
      at = to;
    }
  }

  // Splits intervals at `begin` and `end`, fills gaps with `fresh`, and calls
  // change(begin, end, T&) for each interval in between.
  template <typename Change>
  void Update(int64_t begin, int64_t end, const T& fresh, Change&& change) {
    if (begin >= end) return;
    SplitAt(begin);
    SplitAt(end);
    int64_t at = begin;
    auto it = map_.lower_bound(begin);
    while (at < end) {
      const int64_t next =
          it == map_.end() || it->first > end ? end : it->first;
      if (at < next) it = map_.insert(it, {at, {next, fresh}});
      change(at, it->second.end, it->second.value);
      at = it->second.end;
      ++it;
    }
  }

  int64_t size() const { return static_cast<int64_t>(map_.size()); }

 private:
  typename Map::const_iterator FirstReaching(int64_t begin) const {
    auto it = map_.upper_bound(begin);
    if (it != map_.begin()) {
      auto before = std::prev(it);
      if (before->second.end > begin) return before;
    }
    return it;
  }

  // Splits the interval that contains `at`, so that none crosses it.
  void SplitAt(int64_t at) {
    auto it = map_.lower_bound(at);
    if (it == map_.begin()) return;
    --it;
    if (it->second.end <= at) return;
    Interval right = it->second;
    right.value.Shift(at - it->first);
    it->second.end = at;
    map_.insert({at, std::move(right)});
  }

  Map map_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_INTERVAL_MAP_H_
