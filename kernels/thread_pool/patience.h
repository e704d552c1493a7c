// How long a waiting thread spins.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_THREAD_POOL_PATIENCE_H_
#define PARTITA_KERNELS_THREAD_POOL_PATIENCE_H_

#include <algorithm>
#include <atomic>
#include <chrono>

namespace partita {

// On an idle host a thread spins while it waits, because a sleeping core wakes
// up slowly. If other programs want the cores, the awaited thread may itself be
// waiting for this core. Threads that lost their core report for how long;
// while that is more than a 32nd of the time, all threads sleep soon.
// Interrupts and system threads take less. Soon is not at once: between two
// loops of one kernel there are microseconds, and a thread that sleeps there
// wakes up on a core that others use.
//
// Thread safety: all calls may run in parallel.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  // `most`: on a host whose cores nobody else wants.
  explicit Patience(Clock::duration most) : most_(most) {}

  Clock::duration most() const { return most_; }

  // How long to spin from `now` on.
  Clock::duration Of(Clock::time_point now) const {
    return OwedAt(now) > kForgiven ? std::min(most_, kLeast) : most_;
  }

  // Reports that others used this thread's core for that long, until `now`.
  void Lose(Clock::duration lost, Clock::time_point now) {
    const Clock::duration owed =
        OwedAt(now) + kFold * std::min(lost, kLongestLoss);
    until_.store((now + std::min(owed, kMostOwed)).time_since_epoch().count(),
                 std::memory_order_relaxed);
  }

 private:
  static constexpr Clock::duration kLeast = std::chrono::microseconds(5);
  static constexpr int kFold = 32;
  // Three time slices: a process or two among others, or lowest-priority work,
  // is no reason to sleep.
  static constexpr Clock::duration kForgiven =
      kFold * std::chrono::milliseconds(12);
  // About the time slice of a scheduler.
  static constexpr Clock::duration kLongestLoss = std::chrono::milliseconds(4);
  static constexpr Clock::duration kMostOwed = std::chrono::milliseconds(1600);

  // The time that past losses still count.
  Clock::duration OwedAt(Clock::time_point now) const {
    const Clock::duration until(until_.load(std::memory_order_relaxed));
    return std::max(until - now.time_since_epoch(), Clock::duration::zero());
  }

  const Clock::duration most_;
  std::atomic<Clock::rep> until_{0};
};

}  // namespace partita

#endif  // PARTITA_KERNELS_THREAD_POOL_PATIENCE_H_
