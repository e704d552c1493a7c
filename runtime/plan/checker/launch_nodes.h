// The nodes of the happens-before relation (docs/internals/proof.md): single
// commands, collectives with the commands of all ranks, and messages without a
// slot. Matches the commands of each node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// The commands of one collective, by rank.
struct CollectiveCommands {
  GroupId group;
  std::vector<int> by_rank;  // commands
};

// One message of a channel.
struct Message {
  ChannelId channel;
  int number = 0;  // in the channel
  int send = -1;   // commands
  int recv = -1;
};

// The commands that belong together: the k-th collectives of a group's ranks,
// the k-th messages of a channel's ends.
struct Partners {
  std::vector<int> collective;  // by command: index into collectives, or -1
  std::vector<int> message;     // by command: index into messages, or -1
  std::vector<int> recorder;    // by event: the command that records it, or -1
  std::vector<CollectiveCommands> collectives;
  std::vector<Message> messages;
};

// Numbers collectives, messages and events. Reports ranks of a group that
// disagree, sends without a receive, and events with no record or with two.
// After a finding the result must not be used.
Partners FindPartners(const EntryView& view, Findings& findings);

// Commands [begin, end) of the launch order that form one node.
struct LaunchNode {
  int begin;
  int end;
};

// The nodes in launch order. Reports commands of one node that are not
// adjacent: a command between them could wait for the first and block the last.
std::vector<LaunchNode> FindLaunchNodes(const EntryView& view,
                                        const Partners& partners,
                                        Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_
