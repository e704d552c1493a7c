// Performs single actions of one stream: launches, copies, waits, collectives
// and messages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_
#define PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/stream_program.h"

namespace partita {

// DeadlineExceeded: the error of an action that the deadline ended.
absl::Status PastDeadline();

// The phases of a RankCollective, in order.
enum class CollectivePhase : uint8_t { kStart, kWork, kFinish };
inline constexpr CollectivePhase kCollectivePhases[] = {
    CollectivePhase::kStart, CollectivePhase::kWork, CollectivePhase::kFinish};

// Thread safety: for the stream's thread only. Neither allocates nor locks.
class ActionPerformer {
 public:
  // `state` and `stream` outlive the performer.
  ActionPerformer(const EntryState& state, DeviceStream& stream)
      : state_(state), stream_(stream) {}

  // Performs one action. A wait ends when the awaited streams arrive, when a
  // stream has failed, or when the deadline has passed.
  absl::Status Perform(const Step& step, const StreamProgram& program,
                       const Action& action);
  // One phase of a collective. After a failure no later phase is due.
  absl::Status PerformPhase(const Step& step, const StreamProgram& program,
                            const Action& action, CollectivePhase phase);

  // Copies the caller's input to the staging memory of a feed that has some.
  static void StageFeed(const Step& step, const StreamProgram& program,
                        const Action& action);
  // Copies fetched bytes from staging to the caller's outputs. The stream's
  // work of the step is done.
  void DeliverFetches(const Step& step, const StreamProgram& program);

 private:
  absl::Status Feed(const Step& step, const StreamProgram& program,
                    const Action& action);
  absl::Status Fetch(const Step& step, const StreamProgram& program,
                     const Action& action);
  absl::Status CopyOnDevice(const StreamProgram& program, const Action& action);
  absl::Status Wait(const Step& step, const Action& action);
  absl::Status Collective(const Step& step, const StreamProgram& program,
                          const Action& action);
  absl::Status Send(const Step& step, const StreamProgram& program,
                    const Action& action);
  absl::Status Recv(const Step& step, const StreamProgram& program,
                    const Action& action);
  absl::Status Move(const StreamProgram& program, const Action& action);
  // The time of a communication on a device that computes nothing.
  absl::Status SleepFor(const Action& action);
  WaitPolicy PolicyOf(const Step& step) const;
  absl::Status EndOfWait() const;

  const EntryState& state_;
  DeviceStream& stream_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_ACTION_PERFORMER_H_
