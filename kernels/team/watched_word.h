// A number that threads watch, and sleep on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TEAM_WATCHED_WORD_H_
#define PARTITA_KERNELS_TEAM_WATCHED_WORD_H_

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace partita {

// What is waited for: threads that work now, or whatever comes next.
enum class WaitFor { kPeers, kNext };

// Thread safety: all calls may run in parallel.
class WatchedWord {
 public:
  uint32_t value() const { return value_.load(std::memory_order_acquire); }
  // Makes it another number, and all that this thread wrote visible to those
  // who see it.
  void Change() {
    changer_core_.store(sched_getcpu(), std::memory_order_relaxed);
    value_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) Wake();
  }
  // Until it is another than `seen`. Looks for a while (patience.h), but where
  // the process has more than a thread for each core that it may use; then
  // sleeps.
  void WaitForChange(uint32_t seen, WaitFor what, bool is_crowded);

 private:
  bool Look(uint32_t seen, std::chrono::steady_clock::time_point start) const;
  bool Changes(uint32_t seen, int looks) const;
  bool SharesCore() const;
  void Sleep(uint32_t seen);
  void Wake();

  std::atomic<uint32_t> value_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<int> changer_core_{-1};
};

}  // namespace partita

#endif  // PARTITA_KERNELS_TEAM_WATCHED_WORD_H_
