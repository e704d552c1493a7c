// Interface to watch the commands of steps, and to delay them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COMMAND_OBSERVER_H_
#define PARTITA_RUNTIME_EXECUTOR_COMMAND_OBSERVER_H_

#include <cstdint>

#include "runtime/plan/plan.h"

namespace partita {

// Thread safety: calls come from the threads of all streams at once.
class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  // Called before a command accesses its bytes or waits; the command goes on
  // when this returns. A correct plan survives every finite delay. For commands
  // in a graph, in launch order, before the graph is launched.
  virtual void Before(uint64_t step, CommandId command) = 0;
  // Called once for each Before, and after a failure before it: when the
  // command has failed or is done, or is issued to a stream that runs behind
  // the host.
  virtual void After(uint64_t step, CommandId command) = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMMAND_OBSERVER_H_
