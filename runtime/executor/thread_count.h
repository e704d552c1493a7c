// Counts the threads of a plan before any of them starts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_THREAD_COUNT_H_
#define PARTITA_RUNTIME_EXECUTOR_THREAD_COUNT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/executor/session_memory.h"
#include "runtime/plan/plan.h"

namespace partita {

// Each stream of the host has a thread, and all that run behind it have one. If
// kernels run on the host, each stream that runs kernels also has a pool of its
// device's threads.
int64_t ThreadsOf(const Entry& entry, const Devices& devices);

// ResourceExhausted if all entries together need more than `most` threads.
absl::Status CheckThreads(const Plan& plan, const Devices& devices,
                          int64_t most);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_THREAD_COUNT_H_
