// What a session's memory is used for: figures, and blocks with their owners.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_MEMORY_REPORT_H_
#define PARTITA_RUNTIME_EXECUTOR_MEMORY_REPORT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/entry_runner.h"
#include "runtime/executor/session_memory.h"
#include "runtime/executor/session_report.h"
#include "runtime/plan/plan.h"

namespace partita {

// A loaded session. `runners` is by entry.
struct LoadedSession {
  const Plan& plan;
  const Devices& devices;
  const SessionMemory& memory;
  const std::vector<std::unique_ptr<EntryRunner>>& runners;
};

// By device. The driver's error if it does not report its figures.
absl::StatusOr<std::vector<DeviceMemory>> MemoryUseOf(
    const LoadedSession& session);
absl::StatusOr<std::vector<MemorySnapshot>> MemorySnapshotOf(
    const LoadedSession& session);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_MEMORY_REPORT_H_
