// Matches the k-th collectives of a group's ranks, and the k-th messages of a
// channel's ends.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/communications.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// By group or channel, by rank or end: the commands in launch order.
using Issued = std::vector<std::vector<std::vector<CommandId>>>;

// Omits commands on streams that are not in the collective's group.
Issued CollectivesOf(const Entry& entry, const CommandList& commands) {
  Issued issued(entry.groups.size());
  absl::flat_hash_map<std::pair<GroupId, StreamId>, int> ranks;
  for (size_t g = 0; g < entry.groups.size(); ++g) {
    const std::vector<StreamId>& streams = entry.groups[g].ranks;
    issued[g].resize(streams.size());
    for (size_t m = 0; m < streams.size(); ++m) {
      ranks[{GroupId(static_cast<int32_t>(g)), streams[m]}] =
          static_cast<int>(m);
    }
  }
  for (CommandId c : commands.ids()) {
    if (commands[c].kind != Kind::kCollective) continue;
    const auto rank = ranks.find({commands[c].group, commands[c].stream});
    if (rank == ranks.end()) continue;
    issued[commands[c].group.index][rank->second].push_back(c);
  }
  return issued;
}

// For each channel the sends, then the receives.
Issued MessagesOf(const Entry& entry, const CommandList& commands) {
  Issued issued(entry.channels.size(), std::vector<std::vector<CommandId>>(2));
  for (CommandId c : commands.ids()) {
    const Kind kind = commands[c].kind;
    if (kind != Kind::kSend && kind != Kind::kRecv) continue;
    if (!commands[c].channel.valid()) continue;
    issued[commands[c].channel.index][kind == Kind::kRecv].push_back(c);
  }
  return issued;
}

absl::Status NotPaired(CommandId command, absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat("command ", command.index, ": found ", found,
                   "; expected a plan that the checker accepts"));
}

}  // namespace

int ParticipantOf(const Group& group, const Command& command) {
  return static_cast<int>(absl::c_find(group.ranks, command.stream) -
                          group.ranks.begin());
}

absl::StatusOr<Communications> Communications::Find(
    const Entry& entry, const CommandList& commands) {
  Communications communications;
  communications.of_ = IdVector<CommandId, int>(commands.size(), -1);
  for (const auto& by_rank : CollectivesOf(entry, commands)) {
    PARTITA_RETURN_IF_ERROR(
        communications.AddCommunications(by_rank, /*rendezvous=*/nullptr));
  }
  PARTITA_RETURN_IF_ERROR(communications.OrderByRank(commands));
  for (const auto& by_end : MessagesOf(entry, commands)) {
    ChannelRendezvous& channel = communications.channels_.emplace_back();
    channel.rendezvous = std::make_unique<Rendezvous>(/*ranks=*/2);
    channel.messages = by_end[0].size();
    PARTITA_RETURN_IF_ERROR(
        communications.AddCommunications(by_end, channel.rendezvous.get()));
  }
  for (CommandId c : commands.ids()) {
    const Kind kind = commands[c].kind;
    const bool communicates =
        kind == Kind::kCollective || kind == Kind::kSend || kind == Kind::kRecv;
    if (communicates && communications.of_[c] < 0) {
      return NotPaired(c, "no group or channel of its stream");
    }
  }
  return communications;
}

absl::Status Communications::AddCommunications(
    const std::vector<std::vector<CommandId>>& by_rank,
    Rendezvous* rendezvous) {
  const size_t count = by_rank.empty() ? 0 : by_rank[0].size();
  for (const std::vector<CommandId>& issued : by_rank) {
    if (issued.size() == count) continue;
    return NotPaired(std::max(issued, by_rank[0],
                              [](const auto& a, const auto& b) {
                                return a.size() < b.size();
                              })
                         .back(),
                     "no partner in another stream");
  }
  for (size_t k = 0; k < count; ++k) {
    Communication communication;
    for (const std::vector<CommandId>& issued : by_rank) {
      of_[issued[k]] = static_cast<int>(communications_.size());
      communication.commands.push_back(issued[k]);
    }
    communication.number = static_cast<int>(k);
    communication.per_step = static_cast<int>(count);
    communication.rendezvous = rendezvous;
    communications_.push_back(std::move(communication));
  }
  return absl::OkStatus();
}

// A group may list its streams in another order than a node its devices.
absl::Status Communications::OrderByRank(const CommandList& commands) {
  for (Communication& communication : communications_) {
    std::vector<CommandId> ordered(communication.commands.size());
    for (const CommandId c : communication.commands) {
      const int rank = commands[c].instance.rank;
      if (rank < 0 || rank >= static_cast<int>(ordered.size()) ||
          ordered[rank].valid() ||
          commands[c].instance.node !=
              commands[communication.commands[0]].instance.node) {
        return NotPaired(c, "another rank's command");
      }
      ordered[rank] = c;
    }
    communication.commands = std::move(ordered);
  }
  return absl::OkStatus();
}

void Communications::Interrupt() {
  for (ChannelRendezvous& channel : channels_) channel.rendezvous->Interrupt();
}

void Communications::ArriveAll(uint64_t steps) {
  for (ChannelRendezvous& channel : channels_) {
    channel.rendezvous->ArriveAll(steps * channel.messages);
  }
}

}  // namespace partita
