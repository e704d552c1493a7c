// Who watches the commands of steps, and may hold them back.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COMMAND_OBSERVER_H_
#define PARTITA_RUNTIME_EXECUTOR_COMMAND_OBSERVER_H_

#include <cstdint>

namespace partita {

// Thread safety: calls come from the threads of all streams at once.
class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  // A command is about to touch its bytes, or to wait. It does so when this
  // returns: a correct plan survives any delay that ends by itself.
  virtual void Before(uint64_t step, int command) = 0;
  // The command has ended, or failed.
  virtual void After(uint64_t step, int command) = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMMAND_OBSERVER_H_
