// Looking, and then a futex. (The standard's atomic wait yields first: where
// others want the core that takes milliseconds.)
// SPDX-License-Identifier: Apache-2.0

#include "kernels/team/watched_word.h"

#include <linux/futex.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdlib>

#include "kernels/team/patience.h"

namespace partita {
namespace {

using Clock = Patience::Clock;

// What OpenMP's threads are told to do where other programs want the cores.
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

constexpr int kLooks = 16;  // from one look at the clock to the next
// Longer than what interrupts take: another thread had the core.
constexpr Clock::duration kLostCore = std::chrono::microseconds(200);
// Longer than shares of a team's work mostly differ.
constexpr Clock::duration kLongWait = std::chrono::milliseconds(1);

// Since the last call, from any thread of this process.
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

// False when it is time to sleep.
bool WatchedWord::Look(uint32_t seen, Clock::time_point start) const {
  Patience& patience = HostPatience();
  const Clock::duration most = patience.Of(start);
  for (Clock::time_point last = start; last - start < most;) {
    const bool changed = Changes(seen, kLooks);
    const Clock::time_point now = Clock::now();
    if (now - last > kLostCore) {
      patience.Lose(now - last, now);
      return changed;
    }
    if (changed) return true;
    last = now;
  }
  return false;
}

void WatchedWord::WaitForChange(uint32_t seen, WaitFor what, bool is_crowded) {
  if (Changes(seen, kLooks)) return;
  const Clock::time_point start = Clock::now();
  if (!is_crowded && Look(seen, start)) return;
  Sleep(seen);
  if (what == WaitFor::kNext) return;
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
