// Matches the commands of an entry that belong together.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/launch_nodes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

using Kind = Command::Kind;

void FindRecorders(const EntryView& view, Partners& partners,
                   Findings& findings) {
  partners.recorder = IdVector<EventId, CommandId>(view.entry->num_events);
  for (CommandId c : view.commands.ids()) {
    const Command& command = view.commands[c];
    if (command.kind != Kind::kRecord) continue;
    CommandId& recorder = partners.recorder[command.event];
    if (recorder.valid()) {
      findings.Add(view.Found(
          Rule::kRecordedOnce, c,
          absl::StrCat(view.places.Text(c), " records ",
                       view.places.EventText(c), ", which ",
                       view.places.Text(recorder),
                       " has recorded; a wait could pass too early; use "
                       "another event")));
    }
    recorder = c;
  }
  for (CommandId c : view.commands.ids()) {
    const Command& command = view.commands[c];
    if (command.kind == Kind::kWait &&
        !partners.recorder[command.event].valid()) {
      findings.Add(view.Found(
          Rule::kRecordedOnce, c,
          absl::StrCat(view.places.Text(c), " waits for ",
                       view.places.EventText(c),
                       ", which no command records; record it, or leave the "
                       "wait out")));
    }
  }
}

// Libraries such as NCCL and MPI match collectives by the order in which each
// rank issues them, so the checker does too.

// The collectives of one group by rank, in the launch order of the ranks'
// streams.
using Issued = std::vector<std::vector<CommandId>>;

std::vector<Issued> IssuedByGroup(const EntryView& view, Findings& findings) {
  const Entry& entry = *view.entry;
  std::vector<Issued> issued(entry.groups.size());
  std::vector<absl::flat_hash_map<StreamId, int>> ranks(entry.groups.size());
  for (size_t g = 0; g < entry.groups.size(); ++g) {
    const std::vector<StreamId>& streams = entry.groups[g].ranks;
    issued[g].resize(streams.size());
    for (size_t m = 0; m < streams.size(); ++m) ranks[g][streams[m]] = m;
  }
  for (CommandId c : view.commands.ids()) {
    const Command& command = view.commands[c];
    if (command.kind != Kind::kCollective) continue;
    const int g = command.group.index;
    auto rank = ranks[g].find(command.stream);
    if (rank != ranks[g].end()) {
      issued[g][rank->second].push_back(c);
      continue;
    }
    findings.Add(view.Found(
        Rule::kGroupOrder, c,
        absl::StrCat(view.places.Text(c), " on ",
                     view.StreamText(command.stream),
                     " is a collective of group ", g,
                     ", whose ranks do not include that stream; move it to a "
                     "rank's stream or use another group")));
  }
  return issued;
}

// "copy %h batch 1 rank 2": the command's instance as in the plan's text.
std::string InstanceText(const EntryView& view, const Command& command) {
  const Instance& instance = command.instance;
  std::string text = view.NodeText(instance.node);
  if (instance.micro_batch > kFirstMicroBatch) {
    absl::StrAppend(&text, " batch ", instance.micro_batch.index);
  }
  if (instance.rank > 0) absl::StrAppend(&text, " rank ", instance.rank);
  return text;
}

// The fault in the command of rank `m` in collective `k` of a group. `first` is
// the command of rank 0.
std::string RankFault(const EntryView& view, int group, int m, int k,
                      CommandId first, CommandId c) {
  const Command& command = view.commands[c];
  const Instance& expected = view.commands[first].instance;
  if (command.instance.node != expected.node ||
      command.instance.micro_batch != expected.micro_batch) {
    return absl::StrCat(view.places.Text(c), " is collective ", k, " of rank ",
                        m, " of group ", group, " and does ",
                        InstanceText(view, command), ", but ",
                        view.places.Text(first), " is that of rank 0 and does ",
                        InstanceText(view, view.commands[first]),
                        "; every rank must issue the same sequence");
  }
  if (command.instance.rank == m) return "";
  return absl::StrCat(
      view.places.Text(c), " is rank ", command.instance.rank, " of ",
      view.NodeText(command.instance.node), " on ",
      view.StreamText(command.stream), ", which is rank ", m, " of group ",
      group, "; expected one number; list the group's streams in the order of ",
      "the node's ranks");
}

void AddCollectives(const EntryView& view, int group, const Issued& issued,
                    Partners& partners, Findings& findings) {
  for (size_t m = 1; m < issued.size(); ++m) {
    if (issued[m].size() == issued[0].size()) continue;
    findings.Add(view.Found(
        Rule::kGroupOrder, issued[m].empty() ? CommandId() : issued[m].back(),
        absl::StrCat(
            "group ", group, ": rank 0 issues ", issued[0].size(),
            " collectives and rank ", m, " issues ", issued[m].size(),
            "; expected as many of each; add those that are missing")));
    return;
  }
  for (size_t k = 0; !issued.empty() && k < issued[0].size(); ++k) {
    CollectiveCommands collective{GroupId(group), {}};
    for (size_t m = 0; m < issued.size(); ++m) {
      const CommandId c = issued[m][k];
      const std::string fault = RankFault(view, group, static_cast<int>(m),
                                          static_cast<int>(k), issued[0][k], c);
      if (!fault.empty()) {
        findings.Add(view.Found(Rule::kGroupOrder, c, fault));
      }
      collective.by_rank.push_back(c);
    }
    const CollectiveId id = partners.collectives.Add(std::move(collective));
    for (CommandId c : partners.collectives[id].by_rank) {
      partners.collective[c] = id;
    }
  }
}

int64_t MessageBytes(const EntryView& view, const Command& command) {
  const std::vector<BufferId>& side =
      command.kind == Kind::kSend ? command.operands : command.results;
  return view.buffer(side[0]).range.size();
}

// The difference between the two commands of message `k` of a channel.
std::string MessageFault(const EntryView& view, int channel, int k,
                         CommandId sender, CommandId receiver) {
  const Command& send = view.commands[sender];
  const Command& recv = view.commands[receiver];
  std::string as_received, as_sent;
  if (send.instance != recv.instance) {
    as_received = InstanceText(view, recv);
    as_sent = absl::StrCat(InstanceText(view, send), "; give both one node");
  } else if (MessageBytes(view, send) != MessageBytes(view, recv)) {
    as_received = absl::StrCat(MessageBytes(view, recv), " bytes");
    as_sent = absl::StrCat(MessageBytes(view, send), "; give both as many");
  } else {
    return "";
  }
  return absl::StrCat(view.places.Text(receiver), " receives message ", k,
                      " of channel ", channel, " as ", as_received, ", which ",
                      view.places.Text(sender), " sends as ", as_sent);
}

void AddMessages(const EntryView& view, int channel,
                 const std::vector<CommandId>& sends,
                 const std::vector<CommandId>& recvs, Partners& partners,
                 Findings& findings) {
  if (sends.size() != recvs.size()) {
    const bool more_sends = sends.size() > recvs.size();
    findings.Add(view.Found(
        Rule::kMessagePairs, more_sends ? sends.back() : recvs.back(),
        absl::StrCat("channel ", channel, " has ", sends.size(), " sends and ",
                     recvs.size(),
                     " receives; expected as many of each; add those that are "
                     "missing")));
    return;
  }
  for (size_t k = 0; k < sends.size(); ++k) {
    const std::string fault =
        MessageFault(view, channel, static_cast<int>(k), sends[k], recvs[k]);
    if (!fault.empty()) {
      findings.Add(view.Found(Rule::kMessagePairs, recvs[k], fault));
    }
    partners.message[sends[k]] = partners.message[recvs[k]] =
        partners.messages.Add(
            {ChannelId(channel), static_cast<int>(k), sends[k], recvs[k]});
  }
}

void FindMessages(const EntryView& view, Partners& partners,
                  Findings& findings) {
  const std::vector<Channel>& channels = view.entry->channels;
  std::vector<std::vector<CommandId>> sends(channels.size());
  std::vector<std::vector<CommandId>> recvs(channels.size());
  for (CommandId c : view.commands.ids()) {
    const Command& command = view.commands[c];
    if (command.kind == Kind::kSend) sends[command.channel.index].push_back(c);
    if (command.kind == Kind::kRecv) recvs[command.channel.index].push_back(c);
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    AddMessages(view, static_cast<int>(i), sends[i], recvs[i], partners,
                findings);
  }
}

// Checks that the commands are adjacent in launch order.
void CheckTogether(const EntryView& view, std::vector<CommandId> commands,
                   absl::string_view what,
                   IdVector<CommandId, size_t>& node_size, Findings& findings) {
  std::sort(commands.begin(), commands.end());
  const CommandId first = commands.front();
  const CommandId last = commands.back();
  if (last.index - first.index + 1 == static_cast<int>(commands.size())) {
    node_size[first] = commands.size();
    return;
  }
  Finding finding = view.Found(
      Rule::kTogether, last,
      absl::StrCat(
          view.places.Text(first), " and ", view.places.Text(last), " are ",
          what,
          ", but other commands are between them in launch order; those may "
          "wait for the first and block the last; launch them together"));
  finding.other = first;
  findings.Add(std::move(finding));
}

}  // namespace

Partners FindPartners(const EntryView& view, Findings& findings) {
  Partners partners;
  partners.collective = IdVector<CommandId, CollectiveId>(view.commands.size());
  partners.message = IdVector<CommandId, MessageId>(view.commands.size());
  FindRecorders(view, partners, findings);
  const std::vector<Issued> issued = IssuedByGroup(view, findings);
  for (size_t g = 0; g < issued.size(); ++g) {
    AddCollectives(view, static_cast<int>(g), issued[g], partners, findings);
  }
  FindMessages(view, partners, findings);
  return partners;
}

std::vector<IdRange<CommandId>> FindLaunchNodes(const EntryView& view,
                                                const Partners& partners,
                                                Findings& findings) {
  const int count = static_cast<int>(view.commands.size());
  // By first command of a node.
  IdVector<CommandId, size_t> node_size(count, 1);
  for (const CollectiveCommands& collective : partners.collectives) {
    CheckTogether(view, collective.by_rank, "commands of one collective",
                  node_size, findings);
  }
  for (const Message& message : partners.messages) {
    if (view.entry->channels[message.channel.index].capacity > 0) continue;
    CheckTogether(view, {message.send, message.recv},
                  "the two sides of a message without a slot", node_size,
                  findings);
  }
  std::vector<IdRange<CommandId>> nodes;
  for (CommandId c(0); c.index < count;
       c.index += static_cast<int>(nodes.back().size())) {
    nodes.emplace_back(c, node_size[c]);
  }
  return nodes;
}

}  // namespace partita
