// The nodes of the happens-before relation (docs/internals/proof.md): single
// commands, collectives with the commands of all ranks, and messages without a
// slot. Matches the commands of each node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_

#include <vector>

#include "graph/id_vector.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/plan.h"

namespace partita {

// The commands of one collective, by rank.
struct CollectiveCommands {
  GroupId group;
  std::vector<CommandId> by_rank;
};

// One message of a channel.
struct Message {
  ChannelId channel;
  int number = 0;  // in the channel
  CommandId send;
  CommandId recv;
};

// The commands that belong together: the k-th collectives of a group's ranks,
// the k-th messages of a channel's ends.
struct Partners {
  IdVector<CommandId, CollectiveId> collective;  // invalid: in none
  IdVector<CommandId, MessageId> message;        // invalid: no side of one
  IdVector<EventId, CommandId> recorder;         // invalid: nothing records it
  IdVector<CollectiveId, CollectiveCommands> collectives;
  IdVector<MessageId, Message> messages;  // by channel, in the channel's order
};

// Numbers collectives, messages and events. Reports ranks of a group that
// disagree, sends without a receive, and events with no record or with two.
// After a finding the result must not be used.
Partners FindPartners(const EntryView& view, Findings& findings);

// The commands of each node, in launch order. Reports commands of one node that
// are not adjacent: a command between them could wait for the first and block
// the last.
std::vector<IdRange<CommandId>> FindLaunchNodes(const EntryView& view,
                                                const Partners& partners,
                                                Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_
