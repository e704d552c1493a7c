// State that the streams of one entry share while steps run.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_ENTRY_STATE_H_
#define PARTITA_RUNTIME_EXECUTOR_ENTRY_STATE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/executor/command_observer.h"
#include "runtime/executor/executor_options.h"
#include "runtime/executor/failure.h"
#include "runtime/executor/kernel_binder.h"
#include "runtime/executor/stream_program.h"

namespace partita {

// One step in flight, as all streams see it.
struct Step {
  uint64_t number = 0;
  std::vector<const void*> inputs;  // the caller's bytes, by port
  std::vector<void*> outputs;
  SteadyTime deadline = SteadyTime::max();
  bool trace = false;
  std::optional<uint64_t> chaos_seed;
};

// State that the workers of one entry share.
struct EntryState {
  EntryContext context;
  const KernelLibraries* libraries = nullptr;
  bool trust_code = false;  // generated kernels may run the plan's native code
  CommandObserver* observer = nullptr;  // or null
  bool launch_blocking = false;         // ExecutorOptions
  bool launch_graphs = true;            // ExecutorOptions
  std::vector<Step> steps;              // by step mod depth
  StepCounter submitted;
  std::atomic<bool> closing{false};
  FailureLatch failure;
  int spins = 0;

  // Keeps `status` if it is the first error, and wakes every waiting stream.
  void Fail(const absl::Status& status, FailedCommand where);
  // The same, of an error that a device behind the host returned from a call:
  // if it ends the device's use (Unavailable), any command before `end` may
  // have made it.
  void FailAtCall(const absl::Status& status, FailedCommand where,
                  CommandId end);
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_ENTRY_STATE_H_
