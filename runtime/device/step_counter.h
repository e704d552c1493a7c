// A counter that one thread raises step by step while others wait for it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_STEP_COUNTER_H_
#define PARTITA_RUNTIME_DEVICE_STEP_COUNTER_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace partita {

using SteadyTime = std::chrono::steady_clock::time_point;

// How a wait behaves, and what ends it early.
struct WaitPolicy {
  const std::atomic<bool>* stop = nullptr;  // the wait ends when this is true
  int spins = 0;  // polls before the thread parks; 0: parks at once
  SteadyTime deadline = SteadyTime::max();
};

// The value is the number of steps that have passed this point, so a record of
// step t never satisfies a wait for step t+1. Raise publishes all that its
// thread wrote to every thread that sees the value. Waits spin for a bounded
// time, then sleep in the kernel; no call allocates or locks.
//
// Thread safety: one thread raises at a time; any number of threads wait. The
// thread that sets a policy's `stop` must call Interrupt afterwards.
class StepCounter {
 public:
  StepCounter() = default;
  StepCounter(const StepCounter&) = delete;
  StepCounter& operator=(const StepCounter&) = delete;

  uint64_t value() const { return word_.load(std::memory_order_acquire) >> 1; }
  void Raise(uint64_t value) {
    word_.store(value << 1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) WakeAll();
  }
  // True once the value has reached `target`; false if the policy's stop or
  // deadline ended the wait before.
  bool Wait(uint64_t target, const WaitPolicy& policy) {
    return value() >= target || WaitSlowly(target, policy);
  }
  // Makes every waiting thread check its policy again.
  void Interrupt();

 private:
  bool WaitSlowly(uint64_t target, const WaitPolicy& policy);
  bool Sleep(uint64_t target, const WaitPolicy& policy);
  void WakeAll();

  // The value, shifted left by one. Interrupt changes the low bit, so that a
  // thread about to sleep on the old word does not sleep.
  std::atomic<uint64_t> word_{0};
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_STEP_COUNTER_H_
