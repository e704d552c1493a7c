// Holds commands of a running plan back, as an executor, a library or a device
// may.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_MUTANTS_HOLD_H_
#define PARTITA_TESTS_MUTANTS_HOLD_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/executor/command_observer.h"
#include "runtime/plan/plan.h"

namespace partita {

// What is held back, until all else has come to rest.
struct Hold {
  enum class What : uint8_t {
    kNothing,
    kCommand,      // one command, in every step
    kStream,       // every command of one stream
    kLaunchOrder,  // every command, until those launched before it have ended
  };
  What what = What::kNothing;
  int index = 0;
};

// Knows for each stream what it is at; calls come from all streams' threads.
//
// Thread safety: Begin may not run beside the other calls.
class HoldingObserver : public CommandObserver {
 public:
  // `touch` is called for each command when it begins, before it is held.
  HoldingObserver(const Entry& entry, std::vector<Command> commands,
                  std::function<void(uint64_t step, int command)> touch);

  // `patience`: how long nothing may move before a hold in launch order says
  // that it is stuck.
  void Begin(Hold hold, std::chrono::milliseconds patience);
  void Before(uint64_t step, int command) override;
  void After(uint64_t step, int command) override;
  // True if commands that are served in launch order wait for ever.
  bool stuck() const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : uint8_t { kQueued, kBegun, kEnded };
  // What a stream does: nothing for now, something of its own, something that
  // waits for others, or being held.
  enum class State : uint8_t { kIdle, kBusy, kWaits, kHeld };

  void FindPartners();
  bool IsHeld(int command) const;
  // Of a step, so far.
  std::vector<Phase>& PhasesOf(uint64_t step);
  bool MayBeLaunched(uint64_t step, int command);
  bool IsAtRest(int stream) const;
  void Move(int command, State state);
  void WaitForOthers(int command);
  void WaitForTurn(uint64_t step, int command);

  const Entry& entry_;
  const std::vector<Command> commands_;
  const std::function<void(uint64_t step, int command)> touch_;
  std::vector<std::vector<int>> partners_;  // by command: it cannot end alone
  std::vector<bool> last_of_stream_;        // by command

  mutable std::mutex mutex_;
  Hold hold_;
  std::chrono::milliseconds patience_{0};
  bool released_ = false;
  bool stuck_ = false;
  std::vector<State> states_;                      // by stream
  std::map<uint64_t, std::vector<Phase>> phases_;  // by step
  Clock::time_point moved_;                        // when a stream last moved
};

}  // namespace partita

#endif  // PARTITA_TESTS_MUTANTS_HOLD_H_
