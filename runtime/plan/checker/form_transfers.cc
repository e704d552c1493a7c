// Form of commands that move bytes: copies, feeds and fetches, collectives,
// messages.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/command_form.h"
#include "runtime/plan/checker/shards.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// The buffer of a send or recv: a copy node's bytes, on the stream's device; a
// receive leaves them where the node is.
void CheckMessageBuffer(CommandForm& form, BufferId id) {
  const Command& command = form.command();
  const DeviceId here = form.view().device_of(command);
  const DeviceId there = form.view().buffer(id).device;
  if (!IsCopy(form.node())) {
    form.Add(Rule::kDevice,
             absl::StrCat("found ", form.NodeText(),
                          "; expected a copy node of the graph, as "
                          "only those are sent; name another"));
  }
  if (there != here) {
    form.Add(
        Rule::kDevice,
        absl::StrCat("found ", form.view().BufferText(id), " on a stream of ",
                     form.DeviceName(here),
                     "; expected bytes of that device; name another buffer"));
  }
  if (command.kind == Kind::kRecv &&
      form.DeviceName(there) != form.InstanceDevice()) {
    form.Add(
        Rule::kDevice,
        absl::StrCat("found ", form.view().BufferText(id), "; expected ",
                     form.NodeText(), " received on ", form.InstanceDevice(),
                     ", where the graph places it; use a buffer there"));
  }
}

}  // namespace

void CheckCopyForm(CommandForm& form) {
  const Command& command = form.command();
  const DeviceId here = form.view().device_of(command);
  const Buffer& from = form.view().buffer(command.operands[0]);
  const Buffer& to = form.view().buffer(command.results[0]);
  if (!IsCopy(form.node())) {
    form.Add(Rule::kShape, absl::StrCat("found ", form.NodeText(),
                                        "; expected a copy node of the graph; "
                                        "name another"));
    return;
  }
  if (from.device != here && to.device != here) {
    form.Add(Rule::kDevice,
             absl::StrCat("found it on a stream of ", form.DeviceName(here),
                          "; expected one of ", form.DeviceName(from.device),
                          " or ", form.DeviceName(to.device),
                          ", whose bytes it moves; move the command"));
  }
  if (form.DeviceName(to.device) != form.InstanceDevice()) {
    form.Add(Rule::kDevice,
             absl::StrCat("found its result on ", form.DeviceName(to.device),
                          "; expected ", form.NodeText(), " on ",
                          form.InstanceDevice(), "; use a buffer there"));
  }
  if (from.range.size() != to.range.size()) {
    form.Add(Rule::kSize,
             absl::StrCat("found ", from.range.size(), " bytes copied to ",
                          to.range.size(),
                          "; expected as many; change one of the ranges"));
  }
}

void CheckPortForm(CommandForm& form, const PortSlices& ports) {
  const Command& command = form.command();
  form.CheckOwnDevice();
  const bool feed = command.kind == Kind::kFeed;
  const BufferId id = feed ? command.results[0] : command.operands[0];
  const std::vector<ValueId>& values =
      feed ? form.view().graph().inputs() : form.view().graph().outputs();
  const ValueId value = values[command.port];
  const Sharding sharding = ProducedSharding(form.view().graph(), value);
  const int rank = ports.RankOn(value, form.view().device_of(command));
  if (sharding.kind == Sharding::Kind::kPartial ||
      (sharding.kind == Sharding::Kind::kSplit && rank < 0)) {
    form.Add(Rule::kDevice,
             absl::StrCat("found ", form.view().ValueText(value), " on ",
                          form.DeviceName(form.view().device_of(command)),
                          "; expected a device that holds a shard of it; ",
                          feed ? "feed" : "fetch", " it there"));
    return;
  }
  const TensorType shard =
      TypeOfShard(form.view().graph().type(value), sharding, std::max(rank, 0),
                  NumRanks(ProducedPlacement(form.view().graph(), value)));
  form.ExpectBytes(id, shard.num_bytes(), [&] {
    return absl::StrCat(feed ? "input " : "output ", command.port);
  });
}

namespace {

// The rank has an operand for each value of the node if it supplies a shard,
// and a result for each value if it takes one.
void CheckCollective(CommandForm& form, const Participant& rank) {
  const Command& command = form.command();
  const OpView node = form.node();
  const size_t values = node.node().operands.size();
  const size_t given = rank.gives < 0 ? 0 : values;
  const size_t taken = rank.takes < 0 ? 0 : values;
  if (command.operands.size() != given || command.results.size() != taken) {
    form.Add(Rule::kShape,
             absl::StrCat("found ", command.operands.size(), " operands and ",
                          command.results.size(), " results; expected the ",
                          given, " and ", taken, " of ", form.NodeText(),
                          "; name one buffer for each"));
    return;
  }
  int64_t bytes = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    if (given > 0) {
      form.ExpectValue(command.operands[i], node.operand(i).id(),
                       OperandSharding(node.node(), i), rank.gives);
    }
    if (taken > 0) {
      form.ExpectValue(command.results[i], node.result(i).id(),
                       ResultSharding(node.node(), i), rank.takes);
    }
    bytes += node.operand_type(i).num_bytes();
  }
  if (bytes == 0) {
    form.Add(Rule::kShape,
             "found no bytes; expected at least one, as an empty collective "
             "synchronises nothing; leave it out");
  }
}

}  // namespace

void CheckCollectiveForm(CommandForm& form) {
  const Command& command = form.command();
  const Collective& collective = form.view().collective(command);
  if (!collective.kind.has_value()) {
    form.Add(Rule::kShape,
             absl::StrCat("found ", form.NodeText(),
                          "; expected a copy node whose operand and result are "
                          "sharded differently over its devices, or are on "
                          "different ones; name another"));
    return;
  }
  const std::vector<Participant>& ranks = collective.ranks;
  if (form.view().entry->groups[command.group.index].ranks.size() !=
      ranks.size()) {
    form.Add(Rule::kGroupOrder,
             absl::StrCat(
                 "found a group of ",
                 form.view().entry->groups[command.group.index].ranks.size(),
                 " streams; expected one for each of the ", ranks.size(),
                 " ranks of ", form.NodeText(), "; use another group"));
    return;
  }
  form.CheckOwnDevice();
  CheckCollective(form, ranks[command.instance.rank]);
}

void CheckMessageForm(CommandForm& form) {
  const Command& command = form.command();
  const Channel& channel = form.view().entry->channels[command.channel.index];
  const bool send = command.kind == Kind::kSend;
  if (command.stream != (send ? channel.sender : channel.receiver)) {
    form.Add(
        Rule::kMessagePairs,
        absl::StrCat(
            "found it on ", form.view().StreamText(command.stream),
            "; expected the channel's ", send ? "sender " : "receiver ",
            form.view().StreamText(send ? channel.sender : channel.receiver),
            "; move the command"));
  }
  const BufferId id = send ? command.operands[0] : command.results[0];
  CheckMessageBuffer(form, id);
  const Buffer& buffer = form.view().buffer(id);
  if (buffer.range.empty()) {
    form.Add(Rule::kShape,
             "found no bytes; expected at least one, as an empty message "
             "synchronises nothing; leave it out");
  }
  for (BufferId slot : channel.slots) {
    const int64_t room = form.view().buffer(slot).range.size();
    if (room >= buffer.range.size()) continue;
    form.Add(
        Rule::kSlots,
        absl::StrCat("found ", room, " bytes in ", form.view().BufferText(slot),
                     "; expected room for the message's ", buffer.range.size(),
                     "; enlarge the slot"));
  }
}

}  // namespace partita
