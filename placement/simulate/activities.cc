// Divides the bandwidth of links and buses among transfers.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/activities.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace partita {

Hop Activities::HopOf(const Running& transfer) const {
  const CommandCost& cost = costs_[transfer.activity.command];
  return {cost.link, cost.forward};
}

std::vector<double> Activities::EndsOfFlowing() const {
  std::vector<double> ends;
  for (const Running& transfer : flowing_) {
    const Hop hop = HopOf(transfer);
    const double rate = hop.link->bandwidth / sharers_.With(hop);
    ends.push_back(now_ + transfer.activity.bytes_left / rate);
  }
  return ends;
}

void Activities::FlowUntil(double time, const std::vector<double>& ends,
                           std::vector<Running>& ended) {
  std::vector<Running> going;
  for (size_t i = 0; i < ends.size(); ++i) {
    Running& transfer = flowing_[i];
    if (ends[i] <= time) {
      sharers_.Remove(HopOf(transfer));
      ended.push_back(transfer);
      continue;
    }
    // Leaves the fraction that does not flow before `time`.
    transfer.activity.bytes_left *= (ends[i] - time) / (ends[i] - now_);
    going.push_back(transfer);
  }
  flowing_ = std::move(going);
}

// Ends what has a known end, or lets a transfer flow after its latency.
void Activities::EndFixed(std::vector<Running>& ended) {
  for (; !fixed_.empty() && fixed_.top().activity.fixed_end <= now_;
       fixed_.pop()) {
    const Running& running = fixed_.top();
    const bool flows =
        costs_[running.activity.command].on == CommandCost::On::kLink &&
        running.activity.bytes_left > 0;
    if (flows) sharers_.Add(HopOf(running));
    (flows ? flowing_ : ended).push_back(running);
  }
}

std::vector<Activity> Activities::Advance() {
  const std::vector<double> ends = EndsOfFlowing();
  double time = fixed_.empty() ? std::numeric_limits<double>::infinity()
                               : fixed_.top().activity.fixed_end;
  for (double end : ends) time = std::min(time, end);
  std::vector<Running> ended;
  FlowUntil(time, ends, ended);
  now_ = time;
  EndFixed(ended);
  std::sort(ended.begin(), ended.end(), [](const Running& a, const Running& b) {
    return a.number < b.number;
  });
  std::vector<Activity> activities;
  for (const Running& running : ended) activities.push_back(running.activity);
  return activities;
}

}  // namespace partita
