// Greedy packing in several orders, then local search.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pack.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "graph/round_up.h"

namespace partita {
namespace {

enum class Fit { kFirst, kBest };

// The search from one start ends after this many moves without improvement.
constexpr int kMaxStalled = 1000;

// A packing is loose if it is this much above the target, in thousandths. A
// loose packing gets this many times the budget, and up to this many rounds
// over the starts.
constexpr int64_t kLoosePerMille = 40;
constexpr int64_t kLooseFactor = 8;
constexpr int kMaxRounds = 3;

// Up to this many buffers, filling a skyline (quadratic time) is fast.
constexpr int kMaxSkyline = 4000;

int64_t Span(const PackInterval& interval) {
  return interval.last - interval.first + 1;
}

// A buffer as a box: its live range by its bytes.
struct LiveBox {
  int first = std::numeric_limits<int>::max();
  int last = 0;
  int64_t bytes = 0;
};

// The order in which boxes fill a skyline over time: the lowest step takes the
// fitting box with the longest live range (Sekiyama et al. 2018).
class Skyline {
 public:
  explicit Skyline(const IdVector<PackBufferId, LiveBox>& boxes)
      : boxes_(boxes) {
    for (const LiveBox& box : boxes) end_ = std::max(end_, box.last);
    steps_ = {{0, end_, 0}};
  }

  std::vector<PackBufferId> Order() {
    std::vector<PackBufferId> waiting(boxes_.ids().begin(), boxes_.ids().end());
    std::stable_sort(waiting.begin(), waiting.end(),
                     [&](PackBufferId a, PackBufferId b) {
                       return Key(boxes_[a]) > Key(boxes_[b]);
                     });
    std::vector<PackBufferId> order;
    while (!waiting.empty()) {
      const size_t lowest = Lowest();
      const auto fits = std::find_if(
          waiting.begin(), waiting.end(), [&](PackBufferId buffer) {
            return boxes_[buffer].first >= steps_[lowest].first &&
                   boxes_[buffer].last <= steps_[lowest].last;
          });
      // No box fits this step any more, so its bytes up to the lower neighbour
      // stay unused.
      if (fits == waiting.end()) {
        Raise(lowest);
        continue;
      }
      Put(lowest, boxes_[*fits]);
      order.push_back(*fits);
      waiting.erase(fits);
    }
    return order;
  }

 private:
  struct Step {
    int first;
    int last;
    int64_t height;
  };
  static std::pair<int, int64_t> Key(const LiveBox& box) {
    return {box.last - box.first, box.bytes};
  }
  size_t Lowest() const {
    return std::min_element(steps_.begin(), steps_.end(),
                            [](const Step& a, const Step& b) {
                              return a.height < b.height;
                            }) -
           steps_.begin();
  }
  // Raises a step to its lower neighbour and merges them.
  void Raise(size_t at) {
    const bool has_left = at > 0;
    const bool has_right = at + 1 < steps_.size();
    const bool left = has_left && (!has_right || steps_[at - 1].height <=
                                                     steps_[at + 1].height);
    const size_t other = left ? at - 1 : at + 1;
    steps_[other].first = std::min(steps_[other].first, steps_[at].first);
    steps_[other].last = std::max(steps_[other].last, steps_[at].last);
    steps_.erase(steps_.begin() + at);
  }
  void Put(size_t at, const LiveBox& box) {
    const Step below = steps_[at];
    std::vector<Step> parts;
    if (below.first < box.first) {
      parts.push_back({below.first, box.first - 1, below.height});
    }
    parts.push_back({box.first, box.last, below.height + box.bytes});
    if (box.last < below.last) {
      parts.push_back({box.last + 1, below.last, below.height});
    }
    steps_.erase(steps_.begin() + at);
    steps_.insert(steps_.begin() + at, parts.begin(), parts.end());
  }

  const IdVector<PackBufferId, LiveBox>& boxes_;
  int end_ = 0;
  std::vector<Step> steps_;
};

// Placing byte ranges with live ranges in the fewest bytes is NP-hard (dynamic
// storage allocation; Garey and Johnson 1979, problem SR2), so this is a
// search. Conflicts are given as pairs, not as overlaps in time: streams run in
// parallel, and live ranges that do not overlap in launch order may overlap in
// time.
class Packer {
 public:
  Packer(const PackProblem& problem, int64_t target, int64_t budget)
      : problem_(problem),
        target_(target),
        budget_(budget),
        intervals_(problem.num_buffers),
        sizes_(problem.num_buffers, 0),
        comparisons_of_(problem.num_buffers, 1) {
    for (PackIntervalId id : problem.intervals.ids()) {
      const PackInterval& interval = problem.intervals[id];
      intervals_[interval.buffer].push_back(id);
      sizes_[interval.buffer] = std::max(sizes_[interval.buffer], interval.end);
      comparisons_of_[interval.buffer] +=
          static_cast<int64_t>(interval.conflicts.size());
    }
    best_.bytes = std::numeric_limits<int64_t>::max();
  }

  Packing Run() {
    std::vector<Start> starts;
    for (const std::vector<PackBufferId>& order : StartingOrders()) {
      for (Fit fit : {Fit::kFirst, Fit::kBest}) {
        if (Done()) return std::move(best_);
        Packing packing = Place(order, fit);
        Keep(packing);
        starts.push_back({order, fit, std::move(packing)});
      }
    }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start& a, const Start& b) {
                       return a.packing.bytes < b.packing.bytes;
                     });
    // From the best start on: it is the most likely to reach the target, which
    // ends the search.
    for (int round = 0; round < kMaxRounds; ++round) {
      if (round > 0 && !IsLoose()) break;
      for (Start& start : starts) Improve(start);
    }
    return std::move(best_);
  }

 private:
  // A starting order and its packing.
  struct Start {
    std::vector<PackBufferId> order;
    Fit fit;
    Packing packing;
  };

  // The buffer at `from` in an order moves to `to`, which is not after it.
  struct Move {
    size_t from;
    size_t to;
  };

  // True if the best packing is so far above the target that a longer search
  // pays.
  bool IsLoose() const {
    return best_.bytes - target_ > target_ / 1000 * kLoosePerMille;
  }
  // The result must not depend on the machine or on other threads, so the
  // budget counts comparisons, not seconds, and the random numbers are our own.
  bool Done() const {
    if (best_.bytes <= target_) return true;
    if (best_.offsets.empty()) return false;
    return comparisons_ > (IsLoose() ? kLooseFactor * budget_ : budget_);
  }

  std::vector<std::vector<PackBufferId>> StartingOrders() const {
    const std::vector<PackBufferId> by_begin(problem_.buffers().begin(),
                                             problem_.buffers().end());
    IdVector<PackBufferId, double> area(problem_.num_buffers, 0);
    IdVector<PackBufferId, double> span(problem_.num_buffers, 0);
    IdVector<PackBufferId, double> conflicting_bytes(problem_.num_buffers, 0);
    for (const PackInterval& interval : problem_.intervals) {
      area[interval.buffer] +=
          static_cast<double>(interval.end - interval.begin) * Span(interval);
      span[interval.buffer] =
          std::max<double>(span[interval.buffer], Span(interval));
      for (PackIntervalId other : interval.conflicts) {
        conflicting_bytes[interval.buffer] +=
            problem_.intervals[other].end - problem_.intervals[other].begin;
      }
    }
    auto sorted = [&](auto key) {
      std::vector<PackBufferId> order = by_begin;
      std::stable_sort(
          order.begin(), order.end(),
          [&](PackBufferId a, PackBufferId b) { return key(a) > key(b); });
      return order;
    };
    // No order is best for all graphs. Largest first (Pisarchyk and Lee 2020)
    // leaves small gaps, which small buffers fill. Largest area or longest live
    // range first places what can share its bytes with the fewest others. Most
    // bytes of conflicts first places what has the fewest offsets to choose
    // from.
    std::vector<std::vector<PackBufferId>> orders = {
        sorted([&](PackBufferId b) { return std::pair(sizes_[b], span[b]); }),
        sorted([&](PackBufferId b) { return area[b]; }),
        sorted([&](PackBufferId b) { return std::pair(span[b], sizes_[b]); }),
        sorted([&](PackBufferId b) { return conflicting_bytes[b]; }), by_begin};
    if (problem_.num_buffers <= kMaxSkyline) orders.push_back(SkylineOrder());
    return orders;
  }

  std::vector<PackBufferId> SkylineOrder() const {
    IdVector<PackBufferId, LiveBox> boxes(problem_.num_buffers);
    for (const PackInterval& interval : problem_.intervals) {
      LiveBox& box = boxes[interval.buffer];
      box.first = std::min(box.first, interval.first);
      box.last = std::max(box.last, interval.last);
      box.bytes = std::max(box.bytes, Aligned(interval.end));
    }
    return Skyline(boxes).Order();
  }

  // Finds the base offsets at which the buffer would overlap a conflicting one:
  // sorted open intervals.
  void Forbidden(PackBufferId buffer,
                 const IdVector<PackBufferId, int64_t>& offsets) {
    forbidden_.clear();
    for (PackIntervalId i : intervals_[buffer]) {
      const PackInterval& interval = problem_.intervals[i];
      for (PackIntervalId other : interval.conflicts) {
        const PackInterval& placed = problem_.intervals[other];
        const int64_t offset = offsets[placed.buffer];
        if (offset < 0 || placed.buffer == buffer) continue;
        Forbid(offset + placed.begin - interval.end,
               offset + placed.end - interval.begin);
      }
    }
    std::sort(forbidden_.begin(), forbidden_.end());
  }

  // Adds an interval, merged into the last one if they overlap: the intervals
  // of one buffer are adjacent, and so are their conflicts.
  void Forbid(int64_t low, int64_t high) {
    if (!forbidden_.empty() && low < forbidden_.back().second &&
        forbidden_.back().first < high) {
      auto& [last_low, last_high] = forbidden_.back();
      last_low = std::min(last_low, low);
      last_high = std::max(last_high, high);
    } else {
      forbidden_.push_back({low, high});
    }
  }

  int64_t Aligned(int64_t offset) const {
    const int64_t a = problem_.alignment;
    return RoundUp(offset, a);
  }

  // The lowest offset outside the forbidden intervals, or that in the gap that
  // fits best.
  int64_t Choose(Fit fit) const {
    int64_t base = 0;
    int64_t best = -1;
    int64_t best_slack = std::numeric_limits<int64_t>::max();
    for (const auto& [low, high] : forbidden_) {
      if (base <= low) {
        if (fit == Fit::kFirst) return base;
        if (low - base < best_slack) {
          best = base;
          best_slack = low - base;
        }
      }
      base = std::max(base, Aligned(high));
    }
    return best >= 0 ? best : base;
  }

  Packing NothingPlaced() const {
    return {IdVector<PackBufferId, int64_t>(problem_.num_buffers, -1)};
  }

  // Adds the buffer to those that have offsets.
  void Put(PackBufferId buffer, Fit fit, Packing& packing) {
    comparisons_ += comparisons_of_[buffer];
    Forbidden(buffer, packing.offsets);
    packing.offsets[buffer] = Choose(fit);
    packing.bytes =
        std::max(packing.bytes, packing.offsets[buffer] + sizes_[buffer]);
  }

  Packing Place(const std::vector<PackBufferId>& order, Fit fit) {
    Packing packing = NothingPlaced();
    for (PackBufferId buffer : order) Put(buffer, fit, packing);
    return packing;
  }

  // The offset of a buffer depends only on those before it in the order. So
  // buffers before the move keep theirs, and buffers after it do too if those
  // in between do, which is the common case. All count as compared, as if the
  // whole order were packed anew: what the budget buys does not depend on what
  // is kept.

  // Adds the buffer at its offset in `other`.
  void PutAsIn(const Packing& other, PackBufferId buffer, Packing& packing) {
    comparisons_ += comparisons_of_[buffer];
    packing.offsets[buffer] = other.offsets[buffer];
    packing.bytes =
        std::max(packing.bytes, packing.offsets[buffer] + sizes_[buffer]);
  }

  // Packs `order`, that of `start` after the move. Returns no offsets if that
  // takes more bytes than `start`.
  Packing PlaceMoved(const std::vector<PackBufferId>& order, Move move,
                     const Start& start) {
    Packing packing = NothingPlaced();
    bool same = true;
    for (size_t i = 0; i < order.size(); ++i) {
      if (same && (i < move.to || i > move.from)) {
        PutAsIn(start.packing, order[i], packing);
        continue;
      }
      Put(order[i], start.fit, packing);
      if (packing.bytes > start.packing.bytes) return {{}, packing.bytes};
      same &= packing.offsets[order[i]] == start.packing.offsets[order[i]];
    }
    return packing;
  }

  void Keep(const Packing& packing) {
    if (packing.bytes < best_.bytes) best_ = packing;
  }

  uint32_t Random() {
    // Knuth's linear congruential generator for MMIX. Its low bits have short
    // periods, so only the high ones are used.
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }

  // Moves one buffer nearer to the front; in three of four cases one that
  // reaches the highest offset.
  Move ChooseMove(const Start& start) {
    // A packing is lower only if the buffers that reach its highest offset end
    // up elsewhere. The buffer at the front of the order cannot move.
    std::vector<size_t> highest;
    for (size_t i = 1; i < start.order.size(); ++i) {
      const PackBufferId buffer = start.order[i];
      if (start.packing.offsets[buffer] + sizes_[buffer] ==
          start.packing.bytes) {
        highest.push_back(i);
      }
    }
    const size_t from = highest.empty() || Random() % 4 == 0
                            ? Random() % start.order.size()
                            : highest[Random() % highest.size()];
    return {from, Random() % (from + 1)};
  }

  static std::vector<PackBufferId> After(Move move,
                                         std::vector<PackBufferId> order) {
    const auto begin = order.begin();
    std::rotate(begin + move.to, begin + move.from, begin + move.from + 1);
    return order;
  }

  // Accepts moves that do not make the packing worse, until kMaxStalled in a
  // row have not improved it.
  void Improve(Start& start) {
    for (int stalled = 0; stalled < kMaxStalled && !Done(); ++stalled) {
      const Move move = ChooseMove(start);
      std::vector<PackBufferId> next = After(move, start.order);
      Packing packing = PlaceMoved(next, move, start);
      // Most moves change nothing. Accepting equal packings lets the search
      // cross such plateaus; refusing worse ones early saves most of the
      // placing.
      if (packing.offsets.empty()) continue;
      if (packing.bytes < start.packing.bytes) stalled = 0;
      start.order = std::move(next);
      start.packing = std::move(packing);
      Keep(start.packing);
    }
  }

  const PackProblem& problem_;
  const int64_t target_;
  const int64_t budget_;
  IdVector<PackBufferId, std::vector<PackIntervalId>> intervals_;
  IdVector<PackBufferId, int64_t> sizes_;
  IdVector<PackBufferId, int64_t> comparisons_of_;  // to place it
  std::vector<std::pair<int64_t, int64_t>> forbidden_;
  Packing best_;
  int64_t comparisons_ = 0;
  uint64_t state_ = 1;
};

}  // namespace

Packing Pack(const PackProblem& problem, int64_t target, int64_t budget) {
  if (problem.num_buffers == 0) return {};
  return Packer(problem, target, budget).Run();
}

}  // namespace partita
