// The first error of the steps in flight, and where it happened.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_FAILURE_H_
#define PARTITA_RUNTIME_EXECUTOR_FAILURE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/session_report.h"
#include "runtime/plan/plan.h"

namespace partita {

// The commands of one stream that may have made an error: the first and the
// last of those that do work, in launch order.
struct SuspectedCommands {
  FailedCommand first;
  FailedCommand last;
};

// An error that streams of devices which run behind the host found when they
// were waited for in `step`. Names the commands that may have made it, and the
// way to learn which one did.
absl::Status WithSuspects(const absl::Status& status, uint64_t step,
                          const std::vector<SuspectedCommands>& suspects);

// An error that a device behind the host returned from a call, and that an
// earlier command may have made: says so, and how to learn which one.
absl::Status WithEarlierSuspects(const absl::Status& status);

// Describes command `id` of an entry.
FailedCommand DescribeCommand(const Plan& plan, const Entry& entry,
                              const Command& command, CommandId id);

// `status` with the prefix "entry @f: gpu:0/compute: command 7 kernel softmax
// %p: ", without what `where` leaves empty.
absl::Status AtCommand(const FailedCommand& where, const absl::Status& status);

// Thread safety: all calls may run in parallel, except Reset: no step may be in
// flight.
class FailureLatch {
 public:
  // The flag that waits and streams poll.
  const std::atomic<bool>& stopped() const { return stopped_; }
  // Keeps the first failure and drops later ones. True if this is the first.
  bool Set(const absl::Status& status, FailedCommand where);
  // The same, of an error that any command before `end` may have made.
  bool SetUnnamed(const absl::Status& status, FailedCommand where,
                  CommandId end);
  // That `end`, if the failure is such a one; else invalid.
  CommandId unnamed_end() const;
  // Replaces such a failure.
  void Name(const absl::Status& status, FailedCommand where);
  absl::Status status() const;
  FailedCommand where() const;
  void Reset();

 private:
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  absl::Status status_;
  FailedCommand where_;
  CommandId unnamed_end_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_FAILURE_H_
