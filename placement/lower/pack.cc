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

// Up to this many bodies, filling a skyline (quadratic time) is fast.
constexpr int kMaxSkyline = 4000;

int64_t Span(const PackItem& item) { return item.last - item.first + 1; }

// A body as a box: its live range by its bytes.
struct BodyBox {
  int first = std::numeric_limits<int>::max();
  int last = 0;
  int64_t bytes = 0;
};

// The order in which boxes fill a skyline over time: the lowest step takes the
// fitting box with the longest live range (Sekiyama et al. 2018).
class Skyline {
 public:
  explicit Skyline(const IdVector<PackBodyId, BodyBox>& boxes) : boxes_(boxes) {
    for (const BodyBox& box : boxes) end_ = std::max(end_, box.last);
    steps_ = {{0, end_, 0}};
  }

  std::vector<PackBodyId> Order() {
    std::vector<PackBodyId> waiting(boxes_.ids().begin(), boxes_.ids().end());
    std::stable_sort(waiting.begin(), waiting.end(),
                     [&](PackBodyId a, PackBodyId b) {
                       return Key(boxes_[a]) > Key(boxes_[b]);
                     });
    std::vector<PackBodyId> order;
    while (!waiting.empty()) {
      const size_t lowest = Lowest();
      const auto fits =
          std::find_if(waiting.begin(), waiting.end(), [&](PackBodyId body) {
            return boxes_[body].first >= steps_[lowest].first &&
                   boxes_[body].last <= steps_[lowest].last;
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
  static std::pair<int, int64_t> Key(const BodyBox& box) {
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
  void Put(size_t at, const BodyBox& box) {
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

  const IdVector<PackBodyId, BodyBox>& boxes_;
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
        items_(problem.num_bodies),
        sizes_(problem.num_bodies, 0) {
    for (PackItemId id : problem.items.ids()) {
      const PackItem& item = problem.items[id];
      items_[item.body].push_back(id);
      sizes_[item.body] = std::max(sizes_[item.body], item.end);
    }
    best_.bytes = std::numeric_limits<int64_t>::max();
  }

  Packing Run() {
    std::vector<Start> starts;
    for (const std::vector<PackBodyId>& order : StartingOrders()) {
      for (Fit fit : {Fit::kFirst, Fit::kBest}) {
        if (Done()) return std::move(best_);
        Packing packing = Place(order, fit, kNoLimit);
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
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  // A starting order and its packing.
  struct Start {
    std::vector<PackBodyId> order;
    Fit fit;
    Packing packing;
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
    if (best_.addresses.empty()) return false;
    return looks_ > (IsLoose() ? kLooseFactor * budget_ : budget_);
  }

  std::vector<std::vector<PackBodyId>> StartingOrders() const {
    const std::vector<PackBodyId> by_begin(problem_.bodies().begin(),
                                           problem_.bodies().end());
    IdVector<PackBodyId, double> area(problem_.num_bodies, 0);
    IdVector<PackBodyId, double> span(problem_.num_bodies, 0);
    IdVector<PackBodyId, double> crowd(problem_.num_bodies, 0);
    for (const PackItem& item : problem_.items) {
      area[item.body] +=
          static_cast<double>(item.end - item.begin) * Span(item);
      span[item.body] = std::max<double>(span[item.body], Span(item));
      for (PackItemId other : item.conflicts) {
        crowd[item.body] +=
            problem_.items[other].end - problem_.items[other].begin;
      }
    }
    auto sorted = [&](auto key) {
      std::vector<PackBodyId> order = by_begin;
      std::stable_sort(
          order.begin(), order.end(),
          [&](PackBodyId a, PackBodyId b) { return key(a) > key(b); });
      return order;
    };
    // No order is best for all graphs. Largest first (Pisarchyk and Lee 2020)
    // leaves small gaps, which small bodies fill. Largest area or longest live
    // range first places what can share its bytes with the fewest others. Most
    // bytes of conflicts first places what has the fewest addresses to choose
    // from.
    std::vector<std::vector<PackBodyId>> orders = {
        sorted([&](PackBodyId b) { return std::pair(sizes_[b], span[b]); }),
        sorted([&](PackBodyId b) { return area[b]; }),
        sorted([&](PackBodyId b) { return std::pair(span[b], sizes_[b]); }),
        sorted([&](PackBodyId b) { return crowd[b]; }), by_begin};
    if (problem_.num_bodies <= kMaxSkyline) orders.push_back(SkylineOrder());
    return orders;
  }

  std::vector<PackBodyId> SkylineOrder() const {
    IdVector<PackBodyId, BodyBox> boxes(problem_.num_bodies);
    for (const PackItem& item : problem_.items) {
      BodyBox& box = boxes[item.body];
      box.first = std::min(box.first, item.first);
      box.last = std::max(box.last, item.last);
      box.bytes = std::max(box.bytes, Aligned(item.end));
    }
    return Skyline(boxes).Order();
  }

  // Finds the base addresses at which the body would overlap a conflicting one:
  // sorted open intervals.
  void Forbidden(PackBodyId body,
                 const IdVector<PackBodyId, int64_t>& addresses) {
    forbidden_.clear();
    for (PackItemId i : items_[body]) {
      const PackItem& item = problem_.items[i];
      looks_ += static_cast<int64_t>(item.conflicts.size());
      for (PackItemId other : item.conflicts) {
        const PackItem& placed = problem_.items[other];
        const int64_t address = addresses[placed.body];
        if (address < 0 || placed.body == body) continue;
        Forbid(address + placed.begin - item.end,
               address + placed.end - item.begin);
      }
    }
    std::sort(forbidden_.begin(), forbidden_.end());
  }

  // Adds an interval, merged into the last one if they overlap: the items of
  // one body are adjacent, and so are their conflicts.
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

  int64_t Aligned(int64_t address) const {
    const int64_t a = problem_.alignment;
    return RoundUp(address, a);
  }

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

  // Packs in this order. Returns no addresses if that takes more than `limit`
  // bytes.
  Packing Place(const std::vector<PackBodyId>& order, Fit fit, int64_t limit) {
    Packing packing;
    packing.addresses = IdVector<PackBodyId, int64_t>(problem_.num_bodies, -1);
    for (PackBodyId body : order) {
      ++looks_;
      Forbidden(body, packing.addresses);
      packing.addresses[body] = Choose(fit);
      packing.bytes =
          std::max(packing.bytes, packing.addresses[body] + sizes_[body]);
      if (packing.bytes > limit) return {{}, packing.bytes};
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

  // The order with one body moved nearer to the front; in three of four cases
  // one that reaches the highest address.
  std::vector<PackBodyId> Moved(const Start& start) {
    // A packing is lower only if the bodies that reach its highest address end
    // up elsewhere. The body at the front of the order cannot move.
    std::vector<size_t> highest;
    for (size_t i = 1; i < start.order.size(); ++i) {
      const PackBodyId body = start.order[i];
      if (start.packing.addresses[body] + sizes_[body] == start.packing.bytes) {
        highest.push_back(i);
      }
    }
    std::vector<PackBodyId> next = start.order;
    const size_t from = highest.empty() || Random() % 4 == 0
                            ? Random() % next.size()
                            : highest[Random() % highest.size()];
    const size_t to = Random() % (from + 1);
    std::rotate(next.begin() + to, next.begin() + from,
                next.begin() + from + 1);
    return next;
  }

  // Accepts moves that do not make the packing worse, until kMaxStalled in a
  // row have not improved it.
  void Improve(Start& start) {
    for (int stalled = 0; stalled < kMaxStalled && !Done(); ++stalled) {
      std::vector<PackBodyId> next = Moved(start);
      Packing packing = Place(next, start.fit, start.packing.bytes);
      // Most moves change nothing. Accepting equal packings lets the search
      // cross such plateaus; refusing worse ones early saves most of the
      // placing.
      if (packing.addresses.empty()) continue;
      if (packing.bytes < start.packing.bytes) stalled = 0;
      start.order = std::move(next);
      start.packing = std::move(packing);
      Keep(start.packing);
    }
  }

  const PackProblem& problem_;
  const int64_t target_;
  const int64_t budget_;
  IdVector<PackBodyId, std::vector<PackItemId>> items_;
  IdVector<PackBodyId, int64_t> sizes_;
  std::vector<std::pair<int64_t, int64_t>> forbidden_;
  Packing best_;
  int64_t looks_ = 0;
  uint64_t state_ = 1;
};

}  // namespace

Packing Pack(const PackProblem& problem, int64_t target, int64_t budget) {
  if (problem.num_bodies == 0) return {};
  return Packer(problem, target, budget).Run();
}

}  // namespace partita
