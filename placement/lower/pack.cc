// Greedy packing in good orders, then improvement.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pack.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace partita {
namespace {

enum class Fit { kFirst, kBest };

// Moves without a smaller packing after which the search gives up.
constexpr int kMaxStalled = 1000;

class Packer {
 public:
  Packer(const PackProblem& problem, int64_t target, int64_t budget)
      : problem_(problem),
        target_(target),
        budget_(budget),
        items_(problem.num_bodies),
        sizes_(problem.num_bodies, 0) {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const PackItem& item = problem.items[i];
      items_[item.body].push_back(static_cast<int>(i));
      sizes_[item.body] = std::max(sizes_[item.body], item.end);
    }
    best_.bytes = std::numeric_limits<int64_t>::max();
  }

  Packing Run() {
    std::vector<int> best_order;
    Fit best_fit = Fit::kFirst;
    for (const std::vector<int>& order : StartingOrders()) {
      for (Fit fit : {Fit::kFirst, Fit::kBest}) {
        if (Done()) return std::move(best_);
        if (!Try(order, fit)) continue;
        best_order = order;
        best_fit = fit;
      }
    }
    Improve(std::move(best_order), best_fit);
    return std::move(best_);
  }

 private:
  bool Done() const {
    return best_.bytes <= target_ ||
           (looks_ > budget_ && !best_.addresses.empty());
  }

  std::vector<std::vector<int>> StartingOrders() const {
    std::vector<int> by_begin(problem_.num_bodies);
    std::iota(by_begin.begin(), by_begin.end(), 0);
    std::vector<double> area(problem_.num_bodies, 0);
    std::vector<double> span(problem_.num_bodies, 0);
    std::vector<double> crowd(problem_.num_bodies, 0);
    for (const PackItem& item : problem_.items) {
      area[item.body] += static_cast<double>(item.end - item.begin) * item.span;
      span[item.body] = std::max<double>(span[item.body], item.span);
      for (int other : item.conflicts) {
        crowd[item.body] +=
            problem_.items[other].end - problem_.items[other].begin;
      }
    }
    auto sorted = [&](auto key) {
      std::vector<int> order = by_begin;
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return key(a) > key(b); });
      return order;
    };
    return {sorted([&](int b) { return std::pair(sizes_[b], span[b]); }),
            sorted([&](int b) { return area[b]; }),
            sorted([&](int b) { return std::pair(span[b], sizes_[b]); }),
            sorted([&](int b) { return crowd[b]; }), by_begin};
  }

  // Bases at which body `body` would overlap what it conflicts with, sorted:
  // strictly between first and second.
  void Forbidden(int body, const std::vector<int64_t>& addresses) {
    forbidden_.clear();
    for (int i : items_[body]) {
      const PackItem& item = problem_.items[i];
      looks_ += static_cast<int64_t>(item.conflicts.size());
      for (int other : item.conflicts) {
        const PackItem& placed = problem_.items[other];
        const int64_t address = addresses[placed.body];
        if (address < 0 || placed.body == body) continue;
        forbidden_.push_back({address + placed.begin - item.end,
                              address + placed.end - item.begin});
      }
    }
    std::sort(forbidden_.begin(), forbidden_.end());
  }

  int64_t Aligned(int64_t address) const {
    const int64_t a = problem_.alignment;
    return (address + a - 1) / a * a;
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

  // Packs in this order; keeps the packing if it is the best so far. Equal ones
  // are kept while improving, to move on over plateaus.
  bool Try(const std::vector<int>& order, Fit fit, bool equal = false) {
    std::vector<int64_t> addresses(problem_.num_bodies, -1);
    int64_t bytes = 0;
    for (int body : order) {
      Forbidden(body, addresses);
      addresses[body] = Choose(fit);
      bytes = std::max(bytes, addresses[body] + sizes_[body]);
      if (bytes > best_.bytes || (bytes == best_.bytes && !equal)) return false;
    }
    best_ = {std::move(addresses), bytes};
    return true;
  }

  uint32_t Random() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }

  void Improve(std::vector<int> order, Fit fit) {
    if (order.empty()) return;
    int64_t bytes = best_.bytes;
    for (int stalled = 0; stalled < kMaxStalled && !Done(); ++stalled) {
      if (best_.bytes < bytes) {
        bytes = best_.bytes;
        stalled = 0;
      }
      std::vector<size_t> highest;
      for (size_t i = 1; i < order.size(); ++i) {
        const int body = order[i];
        if (best_.addresses[body] + sizes_[body] == best_.bytes) {
          highest.push_back(i);
        }
      }
      std::vector<int> next = order;
      const size_t from = highest.empty() || Random() % 4 == 0
                              ? Random() % order.size()
                              : highest[Random() % highest.size()];
      const size_t to = Random() % (from + 1);
      std::rotate(next.begin() + to, next.begin() + from,
                  next.begin() + from + 1);
      looks_ += static_cast<int64_t>(order.size());
      if (Try(next, fit, /*equal=*/true)) order = std::move(next);
    }
  }

  const PackProblem& problem_;
  const int64_t target_;
  const int64_t budget_;
  std::vector<std::vector<int>> items_;  // by body
  std::vector<int64_t> sizes_;           // by body
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
