// Performs single actions of one stream: launches, copies, waits, collectives
// and messages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_
#define PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_

#include <chrono>

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/stream_program.h"

namespace partita {

// DeadlineExceeded: the error of an action that the deadline ended.
absl::Status PastDeadline();

// Thread safety: for the stream's thread only. Neither allocates nor locks.
class ActionPerformer {
 public:
  // `state` and `stream`, a stream of `device`, outlive the performer.
  ActionPerformer(const EntryState& state, Device& device, DeviceStream& stream)
      : state_(state), timed_(device.is_timed()), stream_(stream) {}

  // On a timed device: the first action begins now.
  void BeginStep();
  // Performs one action. A wait ends when the awaited streams arrive, when a
  // stream has failed, or when the deadline has passed.
  absl::Status Perform(const Step& step, const StreamProgram& program,
                       const Action& action);

 private:
  absl::Status Wait(const Step& step, const Action& action);
  absl::Status Collective(const Step& step, const Action& action,
                          const CommunicationAction& role);
  absl::Status Send(const Step& step, const StreamProgram& program,
                    const Action& action);
  absl::Status Recv(const Step& step, const StreamProgram& program,
                    const Action& action);
  absl::Status Move(const StreamProgram& program, const Action& action);
  WaitPolicy PolicyOf(const Step& step) const;
  absl::Status EndOfWait() const;
  // Timed devices: time spent in a wait does not count as oversleep.
  void EndWaitOnTimedDevice();
  void Sleep(std::chrono::nanoseconds duration);

  const EntryState& state_;
  const bool timed_;
  DeviceStream& stream_;
  SteadyTime slept_until_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_
