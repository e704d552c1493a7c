// A number that threads wait on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_THREAD_POOL_WATCHED_WORD_H_
#define PARTITA_KERNELS_THREAD_POOL_WATCHED_WORD_H_

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace partita {

// What a thread waits for: others in the same run, or the next run.
enum class WaitFor { kPeers, kNext };

// Thread safety: all calls may run in parallel.
class WatchedWord {
 public:
  uint32_t value() const { return value_.load(std::memory_order_acquire); }
  // Changes the number, and makes all writes of this thread visible to threads
  // that see the change.
  void Change() {
    changer_core_.store(sched_getcpu(), std::memory_order_relaxed);
    value_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) Wake();
  }
  // Waits until the number differs from `seen`. Spins for a while (patience.h),
  // unless the process has more threads than cores; then sleeps.
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

#endif  // PARTITA_KERNELS_THREAD_POOL_WATCHED_WORD_H_
