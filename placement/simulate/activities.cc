// Divides bandwidth among transfers, and cores among all that need them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/activities.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

void Activities::Add(const Activity& activity) {
  Running running{activity, added_++};
  const int cores = CostOf(running).cores;
  if (cores == 0) {
    fixed_.push(running);
    return;
  }
  busy_cores_ += cores;
  running.work_end = worked_ + (activity.fixed_end - now_);
  working_.push(running);
}

Hop Activities::HopOf(const Running& transfer) const {
  const CommandCost& cost = CostOf(transfer);
  return {cost.link, cost.forward};
}

std::vector<double> Activities::EndsOfFlowing() const {
  std::vector<double> ends;
  for (const Running& transfer : flowing_) {
    const Hop hop = HopOf(transfer);
    double rate = hop.link->bandwidth / sharers_.With(hop);
    if (CostOf(transfer).cores > 0) rate *= Speed();
    ends.push_back(now_ + transfer.activity.bytes_left / rate);
  }
  return ends;
}

double Activities::EndOfWork() const {
  if (working_.empty()) return kNever;
  return now_ + (working_.top().work_end - worked_) / Speed();
}

void Activities::End(const Running& running, std::vector<Running>& ended) {
  busy_cores_ -= CostOf(running).cores;
  ended.push_back(running);
}

void Activities::FlowUntil(double time, const std::vector<double>& ends,
                           std::vector<Running>& ended) {
  std::vector<Running> going;
  for (size_t i = 0; i < ends.size(); ++i) {
    Running& transfer = flowing_[i];
    if (ends[i] <= time) {
      sharers_.Remove(HopOf(transfer));
      End(transfer, ended);
      continue;
    }
    // Leaves the fraction that does not flow before `time`.
    transfer.activity.bytes_left *= (ends[i] - time) / (ends[i] - now_);
    going.push_back(transfer);
  }
  flowing_ = std::move(going);
}

void Activities::FlowOrEnd(const Running& running,
                           std::vector<Running>& ended) {
  const bool flows = CostOf(running).on == CommandCost::On::kLink &&
                     running.activity.bytes_left > 0;
  if (!flows) {
    End(running, ended);
    return;
  }
  sharers_.Add(HopOf(running));
  flowing_.push_back(running);
}

void Activities::EndFixed(std::vector<Running>& ended) {
  for (; !fixed_.empty() && fixed_.top().activity.fixed_end <= now_;
       fixed_.pop()) {
    FlowOrEnd(fixed_.top(), ended);
  }
}

void Activities::EndWork(std::vector<Running>& ended) {
  for (; !working_.empty() && working_.top().work_end <= worked_;
       working_.pop()) {
    FlowOrEnd(working_.top(), ended);
  }
}

std::vector<Activity> Activities::Advance() {
  const std::vector<double> ends = EndsOfFlowing();
  const double end_of_work = EndOfWork();
  double time = fixed_.empty() ? kNever : fixed_.top().activity.fixed_end;
  time = std::min(time, end_of_work);
  for (double end : ends) time = std::min(time, end);
  // Exactly the end of the first, whatever the rounding.
  worked_ = end_of_work <= time ? working_.top().work_end
                                : worked_ + (time - now_) * Speed();
  std::vector<Running> ended;
  FlowUntil(time, ends, ended);
  now_ = time;
  EndFixed(ended);
  EndWork(ended);
  std::sort(ended.begin(), ended.end(), [](const Running& a, const Running& b) {
    return a.number < b.number;
  });
  std::vector<Activity> activities;
  for (const Running& running : ended) activities.push_back(running.activity);
  return activities;
}

}  // namespace partita
