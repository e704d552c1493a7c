// Prices of devices and of memory, improved by subgradients.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/load_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "placement/cost/portable_exp.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// More rounds raise the bounds of random items by less than 1 % on average.
constexpr int kRounds = 100;

}  // namespace

void StepWork::Add(const WorkItem& item, const std::vector<double>& seconds) {
  items_.push_back(item);
  seconds_.insert(seconds_.end(), seconds.begin(), seconds.end());
}

LoadBounder::LoadBounder(const DeviceGroups& groups, const StepWork& work)
    : groups_(groups), work_(work) {
  for (size_t i = 0; i < work.size(); ++i) stored_ += work.item(i).bytes;
  Improve();
}

// True if the group cannot store everything.
bool LoadBounder::IsShort(DeviceGroupId group) const {
  return stored_ > static_cast<double>(groups_[group].memory);
}

// Prices at which all work would cost the same in every group: right if one
// group is faster than another by the same factor for every command.
LoadBounder::Prices LoadBounder::FirstPrices() const {
  Prices prices;
  for (DeviceGroupId group : groups_.ids()) {
    double seconds = 0;
    for (size_t i = 0; i < work_.size(); ++i) {
      const double here = work_.seconds(i, group);
      if (here < kNever) seconds += here;
    }
    prices.second.Add(seconds > 0 ? 1 / seconds : 1);
    prices.memory.Add(0);
  }
  Normalize(prices);
  return prices;
}

void LoadBounder::Normalize(Prices& prices) const {
  double sum = 0;
  for (DeviceGroupId group : groups_.ids()) {
    const size_t devices = groups_[group].devices.size();
    sum += static_cast<double>(devices) * prices.second[group];
  }
  for (double& price : prices.second) price /= sum;
}

double LoadBounder::MemoryPrice(const Prices& prices) const {
  return std::accumulate(prices.memory.begin(), prices.memory.end(), 0.0);
}

// The least, and the group where it is.
double LoadBounder::PriceOf(size_t item, const Prices& prices,
                            DeviceGroupId* where) const {
  double least = kNever;
  for (DeviceGroupId group : groups_.ids()) {
    const double memory =
        std::max(1.0, static_cast<double>(groups_[group].memory));
    const double price = prices.second[group] * work_.seconds(item, group) +
                         prices.memory[group] * work_.item(item).bytes / memory;
    if (price >= least) continue;
    least = price;
    *where = group;
  }
  return least;
}

LoadBounder::Assignment LoadBounder::Assign(const Prices& prices) const {
  Assignment assignment;
  assignment.load = IdVector<DeviceGroupId, double>(groups_.size(), 0);
  assignment.bytes = assignment.load;
  for (size_t i = 0; i < work_.size(); ++i) {
    DeviceGroupId where(0);
    assignment.bound += PriceOf(i, prices, &where);
    assignment.load[where] += work_.seconds(i, where);
    assignment.bytes[where] += work_.item(i).bytes;
  }
  assignment.bound -= MemoryPrice(prices);
  return assignment;
}

// Raises the prices of what is used too much, and lowers the others.
void LoadBounder::Adjust(const Assignment& assignment, double best, double rate,
                         Prices& prices) const {
  const auto excess = [](double used, double there) {
    return std::clamp(used / there - 1, -1.0, 1.0);
  };
  for (DeviceGroupId group : groups_.ids()) {
    const double devices = static_cast<double>(groups_[group].devices.size());
    prices.second[group] *=
        PortableExp(rate * excess(assignment.load[group], devices * best));
    if (!IsShort(group)) continue;
    const double memory =
        std::max(1.0, static_cast<double>(groups_[group].memory));
    prices.memory[group] = std::max(
        0.0, prices.memory[group] +
                 rate * best * excess(assignment.bytes[group], memory));
  }
  Normalize(prices);
}

void LoadBounder::Improve() {
  Prices prices = FirstPrices();
  best_ = prices;
  const auto price = [&](DeviceGroupId group) {
    return best_.second[group] *
           static_cast<double>(groups_[group].devices.size());
  };
  bool is_short = false;
  for (DeviceGroupId group : groups_.ids()) is_short |= IsShort(group);
  const int rounds = groups_.size() > 1 || is_short ? kRounds : 1;
  for (int round = 0; round < rounds; ++round) {
    const Assignment assignment = Assign(prices);
    if (assignment.bound > bound_.seconds) {
      bound_.seconds = assignment.bound;
      best_ = prices;
    }
    if (bound_.seconds <= 0) break;
    Adjust(assignment, bound_.seconds, 1 / std::sqrt(1.0 + round), prices);
  }
  bound_.group = DeviceGroupId(0);
  for (DeviceGroupId group : groups_.ids()) {
    if (price(group) > price(bound_.group)) bound_.group = group;
  }
}

LoadBound LoadBounder::Overlapping() const { return bound_; }

// Of the items with the longest heads: they run between the last of these
// heads and the shortest of their tails. The same with both exchanged.
double LoadBounder::Among(const std::vector<size_t>& order,
                          double WorkItem::*begin,
                          double WorkItem::*end) const {
  double longest = 0, work = 0, least_end = kNever;
  for (size_t i : order) {
    DeviceGroupId where(0);
    work += PriceOf(i, best_, &where);
    least_end = std::min(least_end, work_.item(i).*end);
    longest = std::max(longest, work_.item(i).*begin + work + least_end);
  }
  return longest - MemoryPrice(best_);
}

LoadBound LoadBounder::WithinAStep() const {
  std::vector<size_t> order(work_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  LoadBound bound = bound_;
  const auto by = [&](double WorkItem::*begin, double WorkItem::*end) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return work_.item(a).*begin > work_.item(b).*begin;
    });
    bound.seconds = std::max(bound.seconds, Among(order, begin, end));
  };
  by(&WorkItem::head, &WorkItem::tail);
  by(&WorkItem::tail, &WorkItem::head);
  return bound;
}

}  // namespace partita
