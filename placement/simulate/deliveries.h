// Which messages have been sent, arrived and received.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_DELIVERIES_H_
#define PARTITA_PLACEMENT_SIMULATE_DELIVERIES_H_

#include <cstddef>
#include <vector>

#include "graph/id_vector.h"
#include "placement/simulate/messages.h"
#include "runtime/plan/plan.h"

namespace partita {

// The times of one message in one step; -1: not yet.
struct Delivery {
  double awaited = -1;  // recv became ready, before the bytes arrived
  double begun = -1;
  double arrived = -1;
  double received = -1;
};

class Deliveries {
 public:
  Deliveries(const Entry& entry, IdSpan<CommandId, Command> commands, int steps)
      : messages_(MessagesOf(entry, commands)),
        list_(static_cast<size_t>(steps) * messages_.list.size()) {}

  // Of a send or recv.
  const ChannelMessage& MessageOf(CommandId command) const {
    return messages_.list[messages_.of_command[command]];
  }
  Delivery& Of(int step, CommandId command) {
    return At(step, messages_.of_command[command]);
  }
  // Since when there is room for the message of a send; negative: there is
  // none.
  double RoomSince(int step, CommandId send) {
    const ChannelMessage& message = MessageOf(send);
    if (message.before.valid()) return At(step, message.before).received;
    return message.rendezvous ? Of(step, send).awaited : 0;
  }
  // The recv whose end made that room. Needs: no rendezvous.
  CommandId RoomFrom(CommandId send) const {
    return messages_.list[MessageOf(send).before].recv;
  }

 private:
  Delivery& At(int step, MessageId message) {
    return list_[static_cast<size_t>(step) * messages_.list.size() +
                 message.index];
  }

  const ChannelMessages messages_;
  std::vector<Delivery> list_;  // step * messages + message
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_DELIVERIES_H_
