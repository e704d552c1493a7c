// Matches the commands of a step that communicate: the ranks of a collective,
// the two ends of a message.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COMMUNICATIONS_H_
#define PARTITA_RUNTIME_EXECUTOR_COMMUNICATIONS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/id_vector.h"
#include "runtime/executor/rendezvous.h"
#include "runtime/plan/plan.h"

namespace partita {

// One collective or message of a step.
struct Communication {
  // Of a collective by the node's ranks, of a message the `send` and the
  // `recv`.
  std::vector<CommandId> commands;
  int number = 0;    // index in its group or channel, from 0 in each step
  int per_step = 0;  // collectives of its group, or messages of its channel
  // Of a message: its ends arrive at one point for each message.
  Rendezvous* rendezvous = nullptr;
};

// The participant of a collective's group that issues `command`.
int ParticipantOf(const Group& group, const Command& command);

// All collectives and messages of an entry, and the rendezvous of its channels.
class Communications {
 public:
  // InvalidArgument if the ranks of a group issue different numbers of
  // collectives, or the ends of a channel different numbers of messages.
  static absl::StatusOr<Communications> Find(const Entry& entry,
                                             const CommandList& commands);

  // The collective or message that a command takes part in.
  const Communication& of(CommandId command) const {
    return communications_[of_[command]];
  }

  void Interrupt();
  // Sets every rendezvous to the state after `steps` good steps.
  void ArriveAll(uint64_t steps);

 private:
  struct ChannelRendezvous {
    std::unique_ptr<Rendezvous> rendezvous;
    uint64_t messages = 0;  // of a step
  };
  absl::Status AddCommunications(
      const std::vector<std::vector<CommandId>>& by_rank,
      Rendezvous* rendezvous);
  absl::Status OrderByRank(const CommandList& commands);

  std::vector<Communication> communications_;
  IdVector<CommandId, int> of_;  // -1: does not communicate
  std::vector<ChannelRendezvous> channels_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMMUNICATIONS_H_
