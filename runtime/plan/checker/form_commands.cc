// Form of each command: ids, kinds, devices, and sizes as the graph's types
// ask.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/kernel_catalog.h"
#include "runtime/plan/checker/collective.h"
#include "runtime/plan/checker/command_ids.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/pieces.h"
#include "runtime/plan/checker/ports.h"

namespace partita {
namespace {

using Kind = Command::Kind;

bool InBounds(int32_t id, size_t bound) {
  return id >= 0 && static_cast<size_t>(id) < bound;
}

bool HasInstance(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kCopy ||
         kind == Kind::kCollective || kind == Kind::kSend ||
         kind == Kind::kRecv;
}

class CommandForm {
 public:
  CommandForm(const EntryView& view, int c, const PortSlices& ports,
              Findings& findings)
      : view_(view),
        c_(c),
        command_(view.commands[c]),
        ports_(ports),
        findings_(findings) {}

  // Ids first: nothing else is looked at before they are known to exist.
  void Check() {
    if (!CheckIds() || (HasInstance(command_.kind) && !CheckInstance())) return;
    switch (command_.kind) {
      case Kind::kKernel:
        return CheckKernel();
      case Kind::kCopy:
        return CheckCopy();
      case Kind::kFeed:
      case Kind::kFetch:
        return CheckPort();
      case Kind::kCollective:
        return CheckCollective();
      case Kind::kSend:
      case Kind::kRecv:
        return CheckMessage();
      case Kind::kRecord:
      case Kind::kWait:
        return;
    }
  }

 private:
  void Add(Rule rule, absl::string_view what) {
    findings_.Add(
        view_.Found(rule, c_,
                    absl::StrCat("command ", c_, " ",
                                 CommandKindName(command_.kind), ": ", what)));
  }

  bool CheckIds() {
    const std::string fault = FaultInIds(view_, command_);
    if (fault.empty()) return true;
    findings_.Add(view_.Found(Rule::kShape, c_,
                              absl::StrCat("command ", c_, ": ", fault)));
    return false;
  }

  bool CheckInstance() {
    const Graph& graph = view_.graph();
    const NodeId id = command_.instance.node;
    if (!InBounds(id.index, graph.node_id_bound()) || !graph.alive(id)) {
      Add(Rule::kShape, absl::StrCat("found node ", id.index,
                                     "; expected one of the placed graph; name "
                                     "another"));
      return false;
    }
    const Placement& placement = graph.node(id).placement;
    if (!InBounds(command_.instance.member, placement.devices.size())) {
      Add(Rule::kShape,
          absl::StrCat("found member ", command_.instance.member, " of ",
                       NodeText(), "; expected one of ",
                       placement.devices.size(), "; name another"));
      return false;
    }
    return true;
  }

  OpView node() const { return view_.graph().view(command_.instance.node); }
  std::string NodeText() const {
    return view_.NodeText(command_.instance.node);
  }
  const std::string& InstanceDevice() const {
    return node().node().placement.devices[command_.instance.member];
  }
  const std::string& DeviceName(DeviceId id) const {
    return view_.device(id).traits.name;
  }

  // The instance runs where its stream is, and all its buffers are there.
  void CheckOwnDevice() {
    const DeviceId device = view_.device_of(command_);
    if (HasInstance(command_.kind) && InstanceDevice() != DeviceName(device)) {
      Add(Rule::kDevice,
          absl::StrCat("found it on ", DeviceName(device), "; expected ",
                       NodeText(), " on ", InstanceDevice(),
                       ", where the graph places it; move the command"));
    }
    const auto here = [&](BufferId id) {
      if (view_.buffer(id).device == device) return;
      Add(Rule::kDevice,
          absl::StrCat("found ", view_.BufferText(id), " on a stream of ",
                       DeviceName(device),
                       "; expected bytes of that device; copy them first"));
    };
    absl::c_for_each(command_.operands, here);
    absl::c_for_each(command_.results, here);
    if (command_.workspace.valid()) here(command_.workspace);
  }

  // `what` makes the text of what has the bytes.
  template <typename Text>
  void ExpectBytes(BufferId id, int64_t bytes, Text what) {
    const int64_t found = view_.buffer(id).range.size();
    if (found == bytes) return;
    Add(Rule::kSize,
        absl::StrCat("found ", found, " bytes in ", view_.BufferText(id),
                     "; expected the ", bytes, " of ", what(),
                     "; change the buffer's range"));
  }

  void ExpectValue(BufferId id, ValueId value, const Sharding& sharding) {
    const Graph& graph = view_.graph();
    const TensorType piece =
        PieceType(graph.type(value), sharding, command_.instance.member,
                  NumMembers(node().node().placement));
    ExpectBytes(id, piece.num_bytes(), [&] {
      return absl::StrCat(view_.ValueText(value), ": ", piece.ToString());
    });
    if (command_.kind == Kind::kKernel) ExpectDense(id, piece.dtype);
  }

  // Kernels take one block, aligned to its elements.
  void ExpectDense(BufferId id, DType dtype) {
    const Buffer& buffer = view_.buffer(id);
    if (NumBlocks(buffer.range) > 1) {
      Add(Rule::kSize, absl::StrCat("found ", view_.BufferText(id), " in ",
                                    buffer.range.count,
                                    " blocks; expected one block; copy first"));
    }
    ExpectAligned(id, std::max(1, BitsOf(dtype) / 8));
  }

  // Wherever the arena begins, and in the bytes of every step.
  void ExpectAligned(BufferId id, int64_t alignment) {
    const Buffer& buffer = view_.buffer(id);
    if (buffer.range.empty()) return;
    const PlanDevice& device = view_.device(buffer.device);
    if (device.alignment < alignment) {
      Add(Rule::kRange,
          absl::StrCat("found ", view_.BufferText(id), " in an arena aligned ",
                       "to ", device.alignment, "; expected at least ",
                       alignment, "; raise the device's alignment"));
    }
    for (int copy = 0; copy < std::min(view_.entry->depth, 2); ++copy) {
      const int64_t begin =
          PartBegin(device, buffer, copy) + buffer.range.offset;
      if (begin % alignment == 0) continue;
      Add(Rule::kRange,
          absl::StrCat("found ", view_.BufferText(id), " at offset ", begin,
                       "; expected a multiple of ", alignment,
                       "; move the buffer"));
      return;
    }
  }

  void CheckKernel() {
    const OpView op = node();
    if (op.is(kConstant) || op.is(kVariable) || IsCopy(op)) {
      Add(Rule::kShape, absl::StrCat("found ", NodeText(),
                                     "; expected a node that computes; name "
                                     "another"));
      return;
    }
    if (command_.operands.size() != op.node().operands.size() ||
        command_.results.size() != op.node().results.size()) {
      Add(Rule::kShape,
          absl::StrCat("found ", command_.operands.size(), " operands and ",
                       command_.results.size(), " results; expected the ",
                       op.num_operands(), " and ", op.num_results(), " of ",
                       NodeText(), "; name one buffer for each"));
      return;
    }
    CheckOwnDevice();
    for (int i = 0; i < op.num_operands(); ++i) {
      ExpectValue(command_.operands[i], op.operand(i).id(),
                  OperandSharding(op.node(), i));
    }
    for (int i = 0; i < op.num_results(); ++i) {
      ExpectValue(command_.results[i], op.result(i).id(),
                  ResultSharding(op.node(), i));
    }
    CheckWorkspace();
  }

  void CheckWorkspace() {
    const std::optional<KernelBinding>& kernel = node().node().kernel;
    const int64_t wanted = kernel.has_value() ? kernel->workspace : 0;
    const int64_t found = command_.workspace.valid()
                              ? view_.buffer(command_.workspace).range.size()
                              : 0;
    if (found < wanted) {
      Add(Rule::kSize,
          absl::StrCat("found ", found, " bytes of workspace; expected ",
                       wanted, " for ", kernel->kernel,
                       "; enlarge the buffer"));
    }
    if (found > 0 && NumBlocks(view_.buffer(command_.workspace).range) > 1) {
      Add(Rule::kSize,
          "found workspace in blocks; expected one block; use another buffer");
    }
    if (found > 0) ExpectAligned(command_.workspace, kWorkspaceAlignment);
  }

  void CheckCopy() {
    const DeviceId here = view_.device_of(command_);
    const Buffer& from = view_.buffer(command_.operands[0]);
    const Buffer& to = view_.buffer(command_.results[0]);
    if (!IsCopy(node())) {
      Add(Rule::kShape, absl::StrCat("found ", NodeText(),
                                     "; expected a copy node of the graph; "
                                     "name another"));
      return;
    }
    if (from.device != here && to.device != here) {
      Add(Rule::kDevice,
          absl::StrCat("found it on a stream of ", DeviceName(here),
                       "; expected one of ", DeviceName(from.device), " or ",
                       DeviceName(to.device),
                       ", whose bytes it moves; move the command"));
    }
    if (DeviceName(to.device) != InstanceDevice()) {
      Add(Rule::kDevice,
          absl::StrCat("found its result on ", DeviceName(to.device),
                       "; expected ", NodeText(), " on ", InstanceDevice(),
                       "; use a buffer there"));
    }
    if (from.range.size() != to.range.size()) {
      Add(Rule::kSize,
          absl::StrCat("found ", from.range.size(), " bytes copied to ",
                       to.range.size(),
                       "; expected as many; change one of the ranges"));
    }
  }

  void CheckPort() {
    CheckOwnDevice();
    const bool feed = command_.kind == Kind::kFeed;
    const BufferId id = feed ? command_.results[0] : command_.operands[0];
    const std::vector<ValueId>& values =
        feed ? view_.graph().inputs() : view_.graph().outputs();
    const ValueId value = values[command_.port];
    const Sharding sharding = ProducedSharding(view_.graph(), value);
    const int member = ports_.MemberOn(value, view_.device_of(command_));
    if (sharding.kind == Sharding::Kind::kPartial ||
        (sharding.kind == Sharding::Kind::kSplit && member < 0)) {
      Add(Rule::kDevice,
          absl::StrCat("found ", view_.ValueText(value), " on ",
                       DeviceName(view_.device_of(command_)),
                       "; expected a device that holds a part of it; fetch it "
                       "there"));
      return;
    }
    const TensorType piece =
        PieceType(view_.graph().type(value), sharding, std::max(member, 0),
                  NumMembers(ProducedPlacement(view_.graph(), value)));
    ExpectBytes(id, piece.num_bytes(), [&] {
      return absl::StrCat(feed ? "input " : "output ", command_.port);
    });
  }

  void CheckCollective() {
    if (!CollectiveOf(node()).has_value()) {
      Add(Rule::kShape,
          absl::StrCat("found ", NodeText(),
                       "; expected a copy node whose operand and result are "
                       "sharded differently over its devices; name another"));
      return;
    }
    const size_t members = node().node().placement.devices.size();
    if (view_.entry->groups[command_.group.index].members.size() != members) {
      Add(Rule::kGroupOrder,
          absl::StrCat("found a group of ",
                       view_.entry->groups[command_.group.index].members.size(),
                       " streams; expected one for each of the ", members,
                       " members of ", NodeText(), "; use another group"));
      return;
    }
    CheckOwnDevice();
    ExpectValue(command_.operands[0], node().operand(0).id(),
                OperandSharding(node().node(), 0));
    ExpectValue(command_.results[0], node().result(0).id(),
                ResultSharding(node().node(), 0));
    if (node().operand_type(0).num_bytes() == 0) {
      Add(Rule::kShape,
          "found no bytes; expected at least one, as an empty collective "
          "synchronises nothing; leave it out");
    }
  }

  void CheckMessage() {
    const Channel& channel = view_.entry->channels[command_.channel.index];
    const bool send = command_.kind == Kind::kSend;
    if (command_.stream != (send ? channel.sender : channel.receiver)) {
      Add(Rule::kMessagePairs,
          absl::StrCat(
              "found it on ", view_.StreamText(command_.stream),
              "; expected the channel's ", send ? "sender " : "receiver ",
              view_.StreamText(send ? channel.sender : channel.receiver),
              "; move the command"));
    }
    const BufferId id = send ? command_.operands[0] : command_.results[0];
    CheckMessageBuffer(id);
    const Buffer& buffer = view_.buffer(id);
    if (buffer.range.empty()) {
      Add(Rule::kShape,
          "found no bytes; expected at least one, as an empty message "
          "synchronises nothing; leave it out");
    }
    for (BufferId slot : channel.slots) {
      const int64_t room = view_.buffer(slot).range.size();
      if (room >= buffer.range.size()) continue;
      Add(Rule::kSlots,
          absl::StrCat("found ", room, " bytes in ", view_.BufferText(slot),
                       "; expected room for the message's ",
                       buffer.range.size(), "; enlarge the slot"));
    }
  }

  // A copy node's bytes, on the stream's device; they arrive where the node is.
  void CheckMessageBuffer(BufferId id) {
    const DeviceId here = view_.device_of(command_);
    const DeviceId there = view_.buffer(id).device;
    if (!IsCopy(node())) {
      Add(Rule::kDevice, absl::StrCat("found ", NodeText(),
                                      "; expected a copy node of the graph, as "
                                      "only those are sent; name another"));
    }
    if (there != here) {
      Add(Rule::kDevice,
          absl::StrCat("found ", view_.BufferText(id), " on a stream of ",
                       DeviceName(here),
                       "; expected bytes of that device; name another buffer"));
    }
    if (command_.kind == Kind::kRecv && DeviceName(there) != InstanceDevice()) {
      Add(Rule::kDevice,
          absl::StrCat("found ", view_.BufferText(id), "; expected ",
                       NodeText(), " received on ", InstanceDevice(),
                       ", where the graph places it; use a buffer there"));
    }
  }

  const EntryView& view_;
  const int c_;
  const Command& command_;
  const PortSlices& ports_;
  Findings& findings_;
};

int64_t BlocksOf(const EntryView& view, const Command& command) {
  int64_t blocks = 0;
  for (BufferId id : command.operands) {
    blocks += NumBlocks(view.buffer(id).range);
  }
  for (BufferId id : command.results) {
    blocks += NumBlocks(view.buffer(id).range);
  }
  return blocks;
}

}  // namespace

void CheckCommands(const EntryView& view, Findings& findings) {
  const PortSlices ports(view, findings);
  if (!findings.empty()) return;
  int64_t blocks = 0;
  for (int c = 0; c < static_cast<int>(view.commands.size()); ++c) {
    CommandForm(view, c, ports, findings).Check();
    if (findings.full()) return;
    if (!findings.empty()) continue;
    blocks += BlocksOf(view, view.commands[c]);
    if (blocks > kMaxBlocks) {
      findings.Add(view.Found(
          Rule::kRange, c,
          absl::StrCat("found more than ", kMaxBlocks,
                       " blocks in the ranges of all commands; expected fewer; "
                       "cut fewer values along inner dimensions, or compile "
                       "with fewer micro-batches")));
      return;
    }
  }
}

}  // namespace partita
