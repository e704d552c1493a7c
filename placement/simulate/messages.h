// Matches sends with receives, and finds what each send waits for.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_MESSAGES_H_
#define PARTITA_PLACEMENT_SIMULATE_MESSAGES_H_

#include "graph/id_vector.h"
#include "graph/ids.h"
#include "runtime/plan/plan.h"

namespace partita {

struct ChannelMessage {
  CommandId send;  // invalid: the plan has none
  CommandId recv;
  // Capacity 0: the message goes straight from sender to receiver.
  bool rendezvous = false;
  // Capacity c > 0: the slot that holds the message, and the message that used
  // the slot before (c messages earlier); invalid for the first c.
  BufferId slot;
  MessageId before;
};

struct ChannelMessages {
  IdVector<MessageId, ChannelMessage> list;
  IdVector<CommandId, MessageId> of_command;  // invalid: neither send nor recv
};

// Message k of a channel belongs to the k-th send and the k-th recv of the
// channel in launch order. Ignores commands with unknown channels.
ChannelMessages MessagesOf(const Entry& entry,
                           IdSpan<CommandId, Command> commands);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_MESSAGES_H_
