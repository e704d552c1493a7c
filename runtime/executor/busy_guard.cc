// Takes and releases the flag.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/busy_guard.h"

namespace partita {

// Acquire and release: a call sees what the one before it has written.
BusyGuard::BusyGuard(std::atomic<bool>& busy)
    : busy_(busy), held_(!busy.exchange(true, std::memory_order_acquire)) {}

BusyGuard::~BusyGuard() {
  if (held_) busy_.store(false, std::memory_order_release);
}

absl::Status BusyGuard::status() const {
  if (held_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "session: found a second call while one is at work; expected one at a "
      "time; make a session of the plan for each thread");
}

}  // namespace partita
