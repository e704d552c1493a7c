// Which sends and receives belong together, and which wait for room.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_MESSAGES_H_
#define PARTITA_PLACEMENT_SIMULATE_MESSAGES_H_

#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/plan.h"

namespace partita {

struct ChannelMessage {
  int send = -1;  // expanded command indices; -1: the plan has none
  int recv = -1;
  // Of a channel of capacity 0: goes straight from sender to receiver.
  bool rendezvous = false;
  // With capacity c: where it waits for its receiver, and the message c before
  // it, which was there last; -1 if it is one of the first c.
  BufferId slot;
  int before = -1;  // index into ChannelMessages::list
};

struct ChannelMessages {
  std::vector<ChannelMessage> list;
  std::vector<int> of_command;  // index into list; -1: no send or recv
};

// Message k of a channel is the one of its k-th send and its k-th recv in
// launch order. Channels that do not exist have no messages.
ChannelMessages MessagesOf(const Entry& entry,
                           absl::Span<const Command> commands);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_MESSAGES_H_
