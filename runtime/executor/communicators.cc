// Measures each group, and makes its communicator.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/communicators.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

int64_t BytesOf(const Entry& entry, const std::vector<BufferId>& buffers) {
  int64_t bytes = 0;
  for (const BufferId id : buffers) {
    bytes += StagedBytes(entry.buffers[id.index].range.size());
  }
  return bytes;
}

std::vector<GroupTraits> TraitsOfGroups(const Entry& entry,
                                        const Devices& devices) {
  std::vector<GroupTraits> groups(entry.groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const StreamId stream : entry.groups[g].ranks) {
      const DeviceId device = entry.streams[stream.index].device;
      groups[g].participants.push_back(devices[device.index].get());
    }
    groups[g].bytes.resize(groups[g].participants.size());
  }
  return groups;
}

CommunicatorMaker TransportOf(const Group& group, const Entry& entry,
                              const Transports& transports) {
  const auto transport = [&](StreamId stream) {
    return transports[entry.streams[stream.index].device.index];
  };
  if (transports.empty() || group.ranks.empty()) return NewHostCommunicator;
  const CommunicatorMaker first = transport(group.ranks.front());
  const bool one = absl::c_all_of(
      group.ranks, [&](StreamId stream) { return transport(stream) == first; });
  return one ? first : NewHostCommunicator;
}

}  // namespace

absl::StatusOr<Communicators> Communicators::New(
    const Entry& entry, const CommandList& commands,
    const Communications& communications, const Devices& devices,
    const Transports& transports) {
  std::vector<GroupTraits> groups = TraitsOfGroups(entry, devices);
  for (CommandId c : commands.ids()) {
    const Command& command = commands[c];
    if (command.kind != Command::Kind::kCollective) continue;
    const Communication& communication = communications.of(c);
    GroupTraits& group = groups[command.group.index];
    group.collectives = communication.per_step;
    int64_t& most =
        group.bytes[ParticipantOf(entry.groups[command.group.index], command)];
    most = std::max(most, BytesOf(entry, command.operands) +
                              BytesOf(entry, command.results));
  }
  Communicators communicators;
  for (size_t g = 0; g < groups.size(); ++g) {
    const CommunicatorMaker make =
        TransportOf(entry.groups[g], entry, transports);
    PARTITA_ASSIGN_OR_RETURN(communicators.by_group_.emplace_back(),
                             make(groups[g]));
  }
  return communicators;
}

void Communicators::Interrupt() {
  for (const auto& communicator : by_group_) communicator->Interrupt();
}

void Communicators::ResumeAt(uint64_t steps) {
  for (const auto& communicator : by_group_) communicator->ResumeAt(steps);
}

}  // namespace partita
