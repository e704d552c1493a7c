// How long a waiting thread keeps its core.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TEAM_PATIENCE_H_
#define PARTITA_KERNELS_TEAM_PATIENCE_H_

#include <algorithm>
#include <atomic>
#include <chrono>

namespace partita {

// On a host of its own a thread looks for what it waits for without leaving its
// core, as a core that went to sleep comes back late. Where other programs want
// the cores, what it waits for may itself wait for that core: threads that lost
// theirs say for how long, and while that is more than a 32nd of the time they
// park soon. What is lost now and then, to interrupts and the system's own
// threads, is less. Soon is not at once: between two loops of one kernel there
// are microseconds, and who sleeps there wakes on a core that others have.
//
// Thread safety: all calls may run in parallel.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  // `most`: of a host whose cores nobody else wants.
  explicit Patience(Clock::duration most) : most_(most) {}

  Clock::duration most() const { return most_; }

  // How long to look from `now` on.
  Clock::duration Of(Clock::time_point now) const {
    return OwedAt(now) > kForgiven ? std::min(most_, kLeast) : most_;
  }

  // Until `now` others ran where a thread of ours would have, for so long.
  void Lose(Clock::duration lost, Clock::time_point now) {
    const Clock::duration owed =
        OwedAt(now) + kFold * std::min(lost, kLongestLoss);
    until_.store((now + std::min(owed, kMostOwed)).time_since_epoch().count(),
                 std::memory_order_relaxed);
  }

 private:
  static constexpr Clock::duration kLeast = std::chrono::microseconds(5);
  static constexpr int kFold = 32;
  // Three slices at once: a step or two among others, or work of the lowest
  // priority, is no reason to sleep.
  static constexpr Clock::duration kForgiven =
      kFold * std::chrono::milliseconds(12);
  // About what a scheduler gives another thread at once.
  static constexpr Clock::duration kLongestLoss = std::chrono::milliseconds(4);
  static constexpr Clock::duration kMostOwed = std::chrono::milliseconds(1600);

  // The time that what was lost still counts.
  Clock::duration OwedAt(Clock::time_point now) const {
    const Clock::duration until(until_.load(std::memory_order_relaxed));
    return std::max(until - now.time_since_epoch(), Clock::duration::zero());
  }

  const Clock::duration most_;
  std::atomic<Clock::rep> until_{0};
};

}  // namespace partita

#endif  // PARTITA_KERNELS_TEAM_PATIENCE_H_
