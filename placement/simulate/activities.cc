// Divides the bandwidth of links and buses among transfers.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/activities.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace partita {

// True for transfers that share bandwidth: over the same link or bus, in the
// same direction unless one link is not duplex.
bool Activities::Share(const Activity& a, const Activity& b) const {
  const CommandCost& x = costs_[a.command];
  const CommandCost& y = costs_[b.command];
  const bool together =
      x.link == y.link || (!x.link->bus.empty() && x.link->bus == y.link->bus);
  const bool duplex = x.link->duplex && y.link->duplex;
  return together && (!duplex || x.forward == y.forward);
}

double Activities::Rate(const Activity& transfer) const {
  int sharers = 0;
  for (const Activity& other : active_) {
    sharers += other.flowing && Share(transfer, other);
  }
  return costs_[transfer.command].link->bandwidth / sharers;
}

double Activities::EndOf(const Activity& activity) const {
  if (!activity.flowing) return activity.fixed_end;
  return now_ + activity.bytes_left / Rate(activity);
}

std::vector<Activity> Activities::Advance() {
  std::vector<double> ends;
  for (const Activity& activity : active_) ends.push_back(EndOf(activity));
  const double time = *std::min_element(ends.begin(), ends.end());
  for (size_t i = 0; i < active_.size(); ++i) {
    if (!active_[i].flowing || ends[i] <= time) continue;
    // Leaves the fraction that does not flow before `time`.
    active_[i].bytes_left *= (ends[i] - time) / (ends[i] - now_);
  }
  now_ = time;
  std::vector<Activity> going, ended;
  for (size_t i = 0; i < active_.size(); ++i) {
    Activity& activity = active_[i];
    const bool transfer = costs_[activity.command].on == CommandCost::On::kLink;
    if (ends[i] > time) {
      going.push_back(activity);
    } else if (transfer && !activity.flowing && activity.bytes_left > 0) {
      activity.flowing = true;
      going.push_back(activity);
    } else {
      ended.push_back(activity);
    }
  }
  active_ = std::move(going);
  return ended;
}

}  // namespace partita
