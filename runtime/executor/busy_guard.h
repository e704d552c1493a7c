// One call at a time on a session: a second one is an error, not a wait.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_BUSY_GUARD_H_
#define PARTITA_RUNTIME_EXECUTOR_BUSY_GUARD_H_

#include <atomic>

#include "absl/status/status.h"

namespace partita {

// Holds a session's `busy` flag while a call is at work, if it was free.
class BusyGuard {
 public:
  explicit BusyGuard(std::atomic<bool>& busy);
  ~BusyGuard();
  BusyGuard(const BusyGuard&) = delete;
  BusyGuard& operator=(const BusyGuard&) = delete;

  // FailedPrecondition if another call holds the flag.
  absl::Status status() const;

 private:
  std::atomic<bool>& busy_;
  const bool held_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_BUSY_GUARD_H_
