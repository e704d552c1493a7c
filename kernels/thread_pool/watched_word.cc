// Spins, then waits on a futex. (The standard's atomic wait yields first, which
// takes milliseconds if others want the core.)
// SPDX-License-Identifier: Apache-2.0

#include "kernels/thread_pool/watched_word.h"

#include <linux/futex.h>
#include <sched.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdlib>

#include "kernels/thread_pool/patience.h"

namespace partita {
namespace {

using Clock = Patience::Clock;

// What OpenMP's threads do if other programs want the cores.
Patience& HostPatience() {
  static Patience& patience = *[] {
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    const bool passive =
        policy != nullptr && strcasecmp(policy, "passive") == 0;
    return new Patience(passive ? Clock::duration::zero()
                                : std::chrono::milliseconds(1));
  }();
  return patience;
}

constexpr int kLooks = 16;  // spins between two reads of the clock
// Longer than interrupts take: another thread had the core.
constexpr Clock::duration kLostCore = std::chrono::microseconds(200);
// Longer than the usual imbalance between threads.
constexpr Clock::duration kLongWait = std::chrono::milliseconds(1);

// Since the last call, by any thread of this process.
bool OthersTookACore() {
  static std::atomic<int64_t> known{0};
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return false;
  return known.exchange(usage.ru_nivcsw) != usage.ru_nivcsw;
}

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

bool WatchedWord::Changes(uint32_t seen, int looks) const {
  for (int i = 0; i < looks; ++i) {
    if (value() != seen) return true;
    Pause();
  }
  return false;
}

// The thread that changes the word last ran on this core, and cannot run while
// this one spins.
bool WatchedWord::SharesCore() const {
  return changer_core_.load(std::memory_order_relaxed) == sched_getcpu();
}

// False when it is time to sleep. A shared core is yielded without sleeping:
// the scheduler moves one of two runnable threads to another core, but not one
// that keeps sleeping.
bool WatchedWord::Look(uint32_t seen, Clock::time_point start) const {
  Patience& patience = HostPatience();
  const Clock::duration most = patience.Of(start);
  for (Clock::time_point last = start;;) {
    const bool shares = SharesCore();
    if (last - start >= (shares ? patience.most() : most)) return false;
    if (shares) sched_yield();
    const bool changed = Changes(seen, shares ? 1 : kLooks);
    const Clock::time_point now = Clock::now();
    const bool lost = !shares && now - last > kLostCore;
    if (lost) patience.Lose(now - last, now);
    if (changed || lost) return changed;
    last = now;
  }
}

void WatchedWord::WaitForChange(uint32_t seen, WaitFor what, bool is_crowded) {
  if (Changes(seen, kLooks)) return;
  const Clock::time_point start = Clock::now();
  if (!is_crowded && Look(seen, start)) return;
  Sleep(seen);
  if (what == WaitFor::kNext || SharesCore()) return;
  const Clock::time_point now = Clock::now();
  if (now - start > kLongWait && OthersTookACore()) {
    HostPatience().Lose(now - start, now);
  }
}

void WatchedWord::Sleep(uint32_t seen) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (value_.load(std::memory_order_seq_cst) == seen) {
    syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  }
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

void WatchedWord::Wake() {
  syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace partita
