// Waiting on a counter: spin, then sleep on a futex.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/step_counter.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bit>
#include <climits>

namespace partita {
namespace {

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::endian::native == std::endian::little,
              "the futex is the low half of the word");

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

uint32_t* FutexOf(std::atomic<uint64_t>& word) {
  return reinterpret_cast<uint32_t*>(&word);
}

// Sleeps while the low half of `word` equals that of `seen`, until `deadline`.
void FutexWait(std::atomic<uint64_t>& word, uint64_t seen,
               SteadyTime deadline) {
  timespec until;
  timespec* limit = nullptr;
  if (deadline != SteadyTime::max()) {
    const auto nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(
            deadline.time_since_epoch())
            .count();
    until.tv_sec = nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    limit = &until;
  }
  // The bitset form takes an absolute time of the monotonic clock, which is
  // std::chrono's steady clock.
  syscall(SYS_futex, FutexOf(word), FUTEX_WAIT_BITSET_PRIVATE,
          static_cast<uint32_t>(seen), limit, nullptr, FUTEX_BITSET_MATCH_ANY);
}

bool Stopped(const WaitPolicy& policy) {
  return policy.stop != nullptr && policy.stop->load(std::memory_order_seq_cst);
}

}  // namespace

void StepCounter::WakeAll() {
  syscall(SYS_futex, FutexOf(word_), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

void StepCounter::Interrupt() {
  word_.fetch_xor(1, std::memory_order_seq_cst);
  WakeAll();
}

bool StepCounter::WaitSlowly(uint64_t target, const WaitPolicy& policy) {
  for (int i = 0; i < policy.spins; ++i) {
    Pause();
    if (value() >= target) return true;
    if (Stopped(policy)) return false;
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  const bool reached = Sleep(target, policy);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  return reached;
}

// Reads the word before the stop flag. An Interrupt after the read changes the
// word, so the futex call returns at once; an earlier one has set the flag.
bool StepCounter::Sleep(uint64_t target, const WaitPolicy& policy) {
  while (true) {
    const uint64_t seen = word_.load(std::memory_order_seq_cst);
    if ((seen >> 1) >= target) return true;
    if (Stopped(policy)) return false;
    if (policy.deadline != SteadyTime::max() &&
        std::chrono::steady_clock::now() >= policy.deadline) {
      return false;
    }
    FutexWait(word_, seen, policy.deadline);
  }
}

}  // namespace partita
