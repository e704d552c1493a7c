// The transport of collectives: how the ranks of a group send and reduce
// their values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COMMUNICATOR_H_
#define PARTITA_RUNTIME_EXECUTOR_COMMUNICATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/op_view.h"
#include "runtime/device/blocks.h"
#include "runtime/device/device.h"

namespace partita {

// What one rank gives and takes in a collective: one block of its device's
// memory for each value. A rank without operands, or without results, has none.
struct RankMemory {
  int participant = 0;  // index in the group
  std::vector<Blocks> operands;
  std::vector<Blocks> results;
};

// One rank's command in one collective of a step. The thread that feeds the
// rank's stream calls each phase once a step, in this order. A thread that
// feeds several ranks calls a phase for all of them before it calls the next,
// so no phase waits for the same phase of another rank.
class RankCollective {
 public:
  virtual ~RankCollective() = default;
  // Makes the operands available to the other ranks.
  virtual absl::Status Start(uint64_t step, DeviceStream& stream) = 0;
  // Waits until all ranks have started, and does this rank's work. False
  // if `policy` ended the wait.
  virtual absl::StatusOr<bool> Work(uint64_t step, DeviceStream& stream,
                                    const WaitPolicy& policy) = 0;
  // Waits until all ranks have worked. Later work of the stream finds the
  // results. False if `policy` ended the wait.
  virtual absl::StatusOr<bool> Finish(uint64_t step, DeviceStream& stream,
                                      const WaitPolicy& policy) = 0;
};

// The collectives of one group. Thread safety: Bind and Interrupt may run in
// parallel with all calls; ResumeAt only while no rank runs.
class Communicator {
 public:
  virtual ~Communicator() = default;
  // The command of the node's rank `rank` in collective `number` of a step.
  // `ranks` is in the order of the node's ranks; if it is empty, no bytes move
  // and the ranks only wait until all have started. It must not outlive the
  // communicator. Unimplemented if the transport cannot do it.
  virtual absl::StatusOr<std::unique_ptr<RankCollective>> Bind(
      const OpView& node, int number, int rank, int participant,
      absl::Span<const RankMemory> ranks) = 0;
  // Page-locked memory of the host that it has for a participant.
  virtual int64_t StagingBytes(int participant) const = 0;
  // Makes every waiting thread check its policy again.
  virtual void Interrupt() = 0;
  // The state after `steps` good steps.
  virtual void ResumeAt(uint64_t steps) = 0;
};

// A group, as a communicator must know it before any command is bound.
struct GroupTraits {
  std::vector<Device*> participants;
  int collectives = 0;  // of a step
  // By participant: the operands and results of its largest collective, as
  // StagedBytes.
  std::vector<int64_t> bytes;
};

// ResourceExhausted if there is no memory for staging.
using CommunicatorMaker =
    absl::StatusOr<std::unique_ptr<Communicator>> (*)(const GroupTraits& group);

// Through memory of the host, by threads of this process. It serves devices of
// all kinds: if the host cannot access a device's memory, values are copied to
// staging memory and back.
absl::StatusOr<std::unique_ptr<Communicator>> NewHostCommunicator(
    const GroupTraits& group);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMMUNICATOR_H_
