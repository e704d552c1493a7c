// Matches sends with receives, and finds what each send waits for.
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
  // Capacity 0: the message goes straight from sender to receiver.
  bool rendezvous = false;
  // Capacity c > 0: the slot that holds the message, and the message that used
  // the slot before (c messages earlier); -1 for the first c.
  BufferId slot;
  int before = -1;  // index into ChannelMessages::list
};

struct ChannelMessages {
  std::vector<ChannelMessage> list;
  std::vector<int> of_command;  // index into list; -1: neither send nor recv
};

// Message k of a channel belongs to the k-th send and the k-th recv of the
// channel in launch order. Ignores commands with unknown channels.
ChannelMessages MessagesOf(const Entry& entry,
                           absl::Span<const Command> commands);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_MESSAGES_H_
