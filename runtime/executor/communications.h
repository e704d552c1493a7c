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
  // Of a collective by the node's ranks; of a message the `send` and the
  // `recv`.
  std::vector<CommandId> commands;
  int number = 0;  // index in its group or channel, from 0 in each step
  Rendezvous* rendezvous = nullptr;
  uint64_t points_per_step = 0;  // of `rendezvous`
};

// All collectives and messages of an entry, and their rendezvous. A collective
// uses two points of its group's rendezvous, a message one point of its
// channel's.
class Communications {
 public:
  static constexpr int kPointsOfCollective = 2;

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
  struct GroupRendezvous {
    std::unique_ptr<Rendezvous> rendezvous;
    uint64_t points_per_step = 0;
  };
  absl::Status AddCommunications(
      const std::vector<std::vector<CommandId>>& by_rank, int points);
  absl::Status OrderByRank(const CommandList& commands);

  std::vector<Communication> communications_;
  IdVector<CommandId, int> of_;  // -1: does not communicate
  std::vector<GroupRendezvous> rendezvous_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMMUNICATIONS_H_
