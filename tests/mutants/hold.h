// Delays commands of a running plan, as an executor, a library or a device may
// do.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_MUTANTS_HOLD_H_
#define PARTITA_TESTS_MUTANTS_HOLD_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "graph/id_vector.h"
#include "runtime/executor/command_observer.h"
#include "runtime/plan/plan.h"

namespace partita {

// The commands that are delayed until everything else has come to rest.
struct Hold {
  enum class What : uint8_t {
    kNothing,
    kCommand,      // one command, in every step
    kStream,       // every command of one stream
    kLaunchOrder,  // every command, until all earlier ones have ended
  };
  What what = What::kNothing;
  int index = 0;
};

// Tracks the state of every stream. Calls come from the threads of all streams.
//
// Thread safety: no other call may run during Begin.
class HoldingObserver : public CommandObserver {
 public:
  // Calls `on_begin` for each command when it begins, before any delay.
  HoldingObserver(
      const Entry& entry, CommandList commands,
      std::function<void(uint64_t step, CommandId command)> on_begin);

  // `patience`: in launch order, the commands count as stuck if nothing moves
  // for this long.
  void Begin(Hold hold, std::chrono::milliseconds patience);
  void Before(uint64_t step, CommandId command) override;
  void After(uint64_t step, CommandId command) override;
  // True if commands in launch order wait forever.
  bool stuck() const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : uint8_t { kQueued, kBegun, kEnded };
  // What a stream does: nothing, a command of its own, a wait for another
  // stream, or a delayed command.
  enum class State : uint8_t { kIdle, kBusy, kWaits, kHeld };

  void FindPartners();
  bool IsHeld(CommandId command) const;
  // Of a step, so far.
  IdVector<CommandId, Phase>& PhasesOf(uint64_t step);
  bool MayBeLaunched(uint64_t step, CommandId command);
  bool IsAtRest(int stream) const;
  void Move(CommandId command, State state);
  void WaitForOthers(CommandId command);
  void WaitForTurn(uint64_t step, CommandId command);

  const Entry& entry_;
  const CommandList commands_;
  const std::function<void(uint64_t step, CommandId command)> on_begin_;
  IdVector<CommandId, std::vector<CommandId>> partners_;  // cannot end alone
  IdVector<CommandId, bool> last_of_stream_;

  mutable std::mutex mutex_;
  Hold hold_;
  std::chrono::milliseconds patience_{0};
  bool released_ = false;
  bool stuck_ = false;
  std::vector<State> states_;                              // by stream
  std::map<uint64_t, IdVector<CommandId, Phase>> phases_;  // by step
  Clock::time_point moved_;  // when a stream last moved
};

}  // namespace partita

#endif  // PARTITA_TESTS_MUTANTS_HOLD_H_
