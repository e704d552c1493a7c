// How a session runs its plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_EXECUTOR_OPTIONS_H_
#define PARTITA_RUNTIME_EXECUTOR_EXECUTOR_OPTIONS_H_

#include "runtime/executor/command_observer.h"
#include "runtime/executor/communicators.h"

namespace partita {

// The user's variable for ExecutorOptions::launch_blocking.
inline constexpr char kLaunchBlockingVariable[] = "PARTITA_LAUNCH_BLOCKING";

struct ExecutorOptions {
  // Host devices read constants where the plan stores them, so that memory
  // holds weights once.
  bool constants_in_place = true;
  // Pass the plan's code objects to the kernels that ask for them.
  bool trust_code = false;
  // Commands of devices that run behind the host are issued one by one, in no
  // graph, and each is waited for: an error names its command.
  bool launch_blocking = false;
  // Runs of commands are graphs where a device launches those
  // (step_division.h); false: each command is issued by itself.
  bool launch_graphs = true;
  // Sees every command of every step, if set. Outlives the executor.
  CommandObserver* observer = nullptr;
  Transports transports;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_EXECUTOR_OPTIONS_H_
