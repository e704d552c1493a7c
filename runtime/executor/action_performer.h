// Performs single actions of one stream: launches, moves, waits, meetings.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_
#define PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_

#include <chrono>

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/stream_program.h"

namespace partita {

// DeadlineExceeded: what a wait or an action says that the deadline ended.
absl::Status PastDeadline();

// Thread safety: of the stream's thread. Neither allocates nor locks.
class ActionPerformer {
 public:
  // `state` and `stream`, which is of `device`, outlive it.
  ActionPerformer(const EntryState& state, Device& device, DeviceStream& stream)
      : state_(state), timed_(device.is_timed()), stream_(stream) {}

  // A timed device's first action begins now.
  void BeginStep();
  // Waits for others until they come, one has failed, or the deadline is past.
  absl::Status Perform(const Step& step, const StreamProgram& program,
                       const Action& action);

 private:
  absl::Status Wait(const Step& step, const Action& action);
  absl::Status Collective(const Step& step, const Action& action,
                          const Exchange& exchange);
  absl::Status Send(const Step& step, const StreamProgram& program,
                    const Action& action);
  absl::Status Recv(const Step& step, const StreamProgram& program,
                    const Action& action);
  absl::Status Move(const StreamProgram& program, const Action& action);
  WaitPolicy PolicyOf(const Step& step) const;
  absl::Status EndOfWait() const;
  // Timed devices: what others ended just now is no oversleep.
  void SleptForOthers();
  void Sleep(std::chrono::nanoseconds duration);

  const EntryState& state_;
  const bool timed_;
  DeviceStream& stream_;
  SteadyTime slept_until_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_
