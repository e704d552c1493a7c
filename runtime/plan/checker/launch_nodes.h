// The nodes of the happens-before relation (docs/internals/proof.md): commands,
// collectives with all their parts, and messages that meet; and which commands
// belong together.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// All parts of one collective, by member.
struct PartSet {
  GroupId group;
  std::vector<int> parts;  // commands
};

// One message of a channel.
struct Message {
  ChannelId channel;
  int number = 0;  // in the channel
  int send = -1;   // commands
  int recv = -1;
};

// Which commands belong together, by the numbering of section 1.
struct Partners {
  std::vector<int> part_set;  // by command: index into part_sets, or -1
  std::vector<int> message;   // by command: index into messages, or -1
  std::vector<int> recorder;  // by event: the command that records it, or -1
  std::vector<PartSet> part_sets;
  std::vector<Message> messages;
};

// Numbers collectives, messages and events. Reports members of a group that
// disagree, sends without a receive, events with no or two records. Nothing of
// the result may be used after a finding.
Partners FindPartners(const EntryView& view, Findings& findings);

// Commands [begin, end) of the launch order that are one node.
struct LaunchNode {
  int begin;
  int end;
};

// The nodes in launch order. Reports parts of one node that are not next to
// each other: whatever stands between them may be held back by the first part
// and hold back the last.
std::vector<LaunchNode> FindLaunchNodes(const EntryView& view,
                                        const Partners& partners,
                                        Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_LAUNCH_NODES_H_
