// Pairs the k-th collectives of a group's members and the k-th messages of a
// channel's ends.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/meetings.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// By group or channel, by member or end: the commands, in launch order.
using Issued = std::vector<std::vector<std::vector<int>>>;

// Of streams that are not in the group of their collective nothing is listed.
Issued CollectivesOf(const Entry& entry, const std::vector<Command>& commands) {
  Issued issued(entry.groups.size());
  absl::flat_hash_map<std::pair<GroupId, StreamId>, int> members;
  for (size_t g = 0; g < entry.groups.size(); ++g) {
    const std::vector<StreamId>& streams = entry.groups[g].members;
    issued[g].resize(streams.size());
    for (size_t m = 0; m < streams.size(); ++m) {
      members[{GroupId(static_cast<int32_t>(g)), streams[m]}] =
          static_cast<int>(m);
    }
  }
  for (size_t c = 0; c < commands.size(); ++c) {
    if (commands[c].kind != Kind::kCollective) continue;
    const auto member = members.find({commands[c].group, commands[c].stream});
    if (member == members.end()) continue;
    issued[commands[c].group.index][member->second].push_back(
        static_cast<int>(c));
  }
  return issued;
}

// The sends, then the receives of each channel.
Issued MessagesOf(const Entry& entry, const std::vector<Command>& commands) {
  Issued issued(entry.channels.size(), std::vector<std::vector<int>>(2));
  for (size_t c = 0; c < commands.size(); ++c) {
    const Kind kind = commands[c].kind;
    if (kind != Kind::kSend && kind != Kind::kRecv) continue;
    if (!commands[c].channel.valid()) continue;
    issued[commands[c].channel.index][kind == Kind::kRecv].push_back(
        static_cast<int>(c));
  }
  return issued;
}

absl::Status NotPaired(int command, absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat("command ", command, ": found ", found,
                   "; expected a plan that the checker accepts"));
}

}  // namespace

absl::StatusOr<Meetings> Meetings::Find(const Entry& entry,
                                        const std::vector<Command>& commands) {
  Meetings meetings;
  meetings.of_.assign(commands.size(), -1);
  for (const auto& by_member : CollectivesOf(entry, commands)) {
    PARTITA_RETURN_IF_ERROR(
        meetings.AddMeetings(by_member, kPointsOfCollective));
  }
  PARTITA_RETURN_IF_ERROR(meetings.OrderByMember(commands));
  for (const auto& by_end : MessagesOf(entry, commands)) {
    PARTITA_RETURN_IF_ERROR(meetings.AddMeetings(by_end, 1));
  }
  for (size_t c = 0; c < commands.size(); ++c) {
    const Kind kind = commands[c].kind;
    const bool meets =
        kind == Kind::kCollective || kind == Kind::kSend || kind == Kind::kRecv;
    if (meets && meetings.of_[c] < 0) {
      return NotPaired(static_cast<int>(c),
                       "no group or channel of its stream");
    }
  }
  return meetings;
}

absl::Status Meetings::AddMeetings(
    const std::vector<std::vector<int>>& by_member, int points) {
  Place place;
  place.rendezvous =
      std::make_unique<Rendezvous>(static_cast<int>(by_member.size()));
  const size_t count = by_member.empty() ? 0 : by_member[0].size();
  place.points_per_step = count * points;
  for (const std::vector<int>& issued : by_member) {
    if (issued.size() == count) continue;
    return NotPaired(std::max(issued, by_member[0],
                              [](const auto& a, const auto& b) {
                                return a.size() < b.size();
                              })
                         .back(),
                     "no partner in another stream");
  }
  for (size_t k = 0; k < count; ++k) {
    Meeting meeting;
    for (const std::vector<int>& issued : by_member) {
      of_[issued[k]] = static_cast<int>(meetings_.size());
      meeting.commands.push_back(issued[k]);
    }
    meeting.number = static_cast<int>(k);
    meeting.place = place.rendezvous.get();
    meeting.points_per_step = place.points_per_step;
    meetings_.push_back(std::move(meeting));
  }
  places_.push_back(std::move(place));
  return absl::OkStatus();
}

// A group may name its streams in another order than a node its devices.
absl::Status Meetings::OrderByMember(const std::vector<Command>& commands) {
  for (Meeting& meeting : meetings_) {
    std::vector<int> ordered(meeting.commands.size(), -1);
    for (const int c : meeting.commands) {
      const int member = commands[c].instance.member;
      if (member < 0 || member >= static_cast<int>(ordered.size()) ||
          ordered[member] >= 0 ||
          commands[c].instance.node !=
              commands[meeting.commands[0]].instance.node) {
        return NotPaired(c, "another member's part");
      }
      ordered[member] = c;
    }
    meeting.commands = std::move(ordered);
  }
  return absl::OkStatus();
}

void Meetings::Interrupt() {
  for (Place& place : places_) place.rendezvous->Interrupt();
}

void Meetings::PassAll(uint64_t steps) {
  for (Place& place : places_) {
    place.rendezvous->PassAll(steps * place.points_per_step);
  }
}

}  // namespace partita
