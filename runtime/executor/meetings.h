// Which commands of a step meet: the parts of a collective, the two ends of a
// message.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_MEETINGS_H_
#define PARTITA_RUNTIME_EXECUTOR_MEETINGS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/rendezvous.h"
#include "runtime/plan/plan.h"

namespace partita {

// One collective or message of a step.
struct Meeting {
  // Command numbers: of a collective by the node's members, of a message those
  // of `send` and `recv`.
  std::vector<int> commands;
  int number = 0;  // among those of its group or channel, each step anew
  Rendezvous* place = nullptr;
  uint64_t points_per_step = 0;  // of the place
};

// All meetings of an entry, and where they take place. A collective takes two
// points of its group's rendezvous, a message one of its channel's.
class Meetings {
 public:
  static constexpr int kPointsOfCollective = 2;

  // InvalidArgument if members do not issue as many collectives, or a channel's
  // ends not as many messages.
  static absl::StatusOr<Meetings> Find(const Entry& entry,
                                       const std::vector<Command>& commands);

  // The meeting that a command takes part in.
  const Meeting& of(int command) const { return meetings_[of_[command]]; }

  void Interrupt();
  // Brings every place to where `steps` good steps would have left it.
  void PassAll(uint64_t steps);

 private:
  struct Place {
    std::unique_ptr<Rendezvous> rendezvous;
    uint64_t points_per_step = 0;
  };
  absl::Status AddMeetings(const std::vector<std::vector<int>>& by_member,
                           int points);
  absl::Status OrderByMember(const std::vector<Command>& commands);

  std::vector<Meeting> meetings_;
  std::vector<int> of_;  // by command; -1: meets nobody
  std::vector<Place> places_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_MEETINGS_H_
