// A serial run of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/run_serially.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/instance.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

constexpr std::byte kJunk{0xA5};

Sharding At(const std::vector<Sharding>& shardings, size_t i) {
  return shardings.empty() ? Sharding() : shardings[i];
}

absl::StatusOr<std::vector<HostTensor>> EvaluatePiece(
    const OpView& op, int member, absl::Span<const HostTensor> operands) {
  const DimensionRule rule = op.op().dimension_rule(op);
  const std::optional<FactorCut> cut = CutOfNode(rule, op.node().placement);
  const bool adds = operands.size() > op.node().operands.size();
  if (!cut.has_value() && !adds) return EvaluateNode(op, operands);
  const int members = static_cast<int>(op.node().placement.devices.size());
  Graph piece("piece", &op.graph().literals());
  NodeSpec spec{.op = &op.op(), .attributes = op.node().attributes};
  for (const HostTensor& operand : operands) {
    spec.operands.push_back(piece.AddInput("", operand.type()));
  }
  if (cut.has_value() && op.op().piece_attributes != nullptr) {
    const Interval share =
        MemberShare(rule.factors[cut->factor].size, cut->unit, member, members);
    op.op().piece_attributes(op, cut->factor, share.begin, share.end,
                             spec.attributes);
  }
  PARTITA_ASSIGN_OR_RETURN(const NodeId node, piece.AddNode(std::move(spec)));
  return EvaluateNode(piece.view(node), operands);
}

// What the stream's device is fed of an input.
HostTensor Fed(const Plan& plan, const Entry& entry, const Command& feed,
               const HostTensor& whole) {
  const Placement& placement = entry.graph->input_placement(feed.port);
  const DeviceId device = entry.streams[feed.stream.index].device;
  const auto member =
      absl::c_find(placement.devices, plan.devices[device.index].traits.name);
  return CutInstance(whole, At(placement.results, 0),
                     static_cast<int>(member - placement.devices.begin()),
                     static_cast<int>(placement.devices.size()));
}

}  // namespace

SerialMachine::SerialMachine(const Plan& plan) : plan_(plan) {
  const int depth = PlanDepth(plan);
  for (const PlanDevice& device : plan.devices) {
    arenas_.emplace_back(ArenaBytes(device, depth), kJunk);
  }
  for (const Entry& entry : plan.entries) {
    for (const PersistentValue& value : entry.persistent) {
      const OpView op = entry.graph->view(value.node);
      const Placement& placement = op.node().placement;
      HostTensor part(InstanceType(op.result_type(0), At(placement.results, 0),
                                   value.member,
                                   static_cast<int>(placement.devices.size())));
      ConvertLayout(plan.module.literals().tensor(value.initial), part);
      Write(entry, value.buffer, part.bytes());
    }
  }
}

std::vector<std::byte> SerialMachine::Read(const Entry& entry,
                                           BufferId id) const {
  const Buffer& buffer = entry.buffers[id.index];
  const Range range = AbsoluteRange(plan_, entry, buffer, step_);
  std::vector<std::byte> bytes;
  if (range.empty()) return bytes;
  const std::vector<std::byte>& arena = arenas_[buffer.device.index];
  for (int64_t i = 0; i < range.count; ++i) {
    const auto begin = arena.begin() + range.offset + i * range.stride;
    bytes.insert(bytes.end(), begin, begin + range.block);
  }
  return bytes;
}

void SerialMachine::Write(const Entry& entry, BufferId id,
                          const std::byte* bytes) {
  const Buffer& buffer = entry.buffers[id.index];
  const Range range = AbsoluteRange(plan_, entry, buffer, step_);
  if (range.empty()) return;
  std::vector<std::byte>& arena = arenas_[buffer.device.index];
  for (int64_t i = 0; i < range.count; ++i) {
    std::copy_n(bytes + i * range.block, range.block,
                arena.begin() + range.offset + i * range.stride);
  }
}

void SerialMachine::Fill(const Entry& entry, BufferId id) {
  const std::vector<std::byte> junk(entry.buffers[id.index].range.empty()
                                        ? 0
                                        : entry.buffers[id.index].range.size(),
                                    kJunk);
  Write(entry, id, junk.data());
}

// Results are junk before they are written, so that a kernel cannot read what
// it was not given.
absl::Status SerialMachine::Kernel(const Entry& entry, const Command& command) {
  const OpView op = entry.graph->view(command.instance.node);
  const Placement& placement = op.node().placement;
  const int members = static_cast<int>(placement.devices.size());
  std::vector<HostTensor> operands;
  for (size_t i = 0; i < command.operands.size(); ++i) {
    // Behind the operands of `accumulate` stands the sum so far.
    const bool is_sum = static_cast<int>(i) == op.num_operands();
    const Sharding sharding =
        is_sum ? At(placement.results, 0) : At(placement.operands, i);
    HostTensor stored(
        InstanceType(is_sum ? op.result_type(0) : op.operand_type(i), sharding,
                     command.instance.member, members));
    const std::vector<std::byte> bytes = Read(entry, command.operands[i]);
    if (bytes.size() != stored.byte_span().size()) {
      return absl::InternalError("operand of another size");
    }
    std::copy(bytes.begin(), bytes.end(), stored.bytes());
    operands.emplace_back(stored.type().RowMajor());
    ConvertLayout(stored, operands.back());
  }
  if (command.workspace.valid()) Fill(entry, command.workspace);
  for (BufferId id : command.results) Fill(entry, id);
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<HostTensor> results,
      EvaluatePiece(op, command.instance.member, operands));
  for (size_t i = 0; i < results.size(); ++i) {
    TensorType type = results[i].type();
    type.layout = op.result_type(i).layout;
    HostTensor stored(type);
    ConvertLayout(results[i], stored);
    Write(entry, command.results[i], stored.bytes());
  }
  return absl::OkStatus();
}

// The command of each member of the exchange that `part` is of.
std::vector<const Command*> SerialMachine::PartsOf(
    const Command& part, absl::Span<const Command> commands) {
  std::vector<const Command*> parts;
  for (const Command& other : commands) {
    if (other.kind != Command::Kind::kCollective ||
        other.instance.node != part.instance.node ||
        other.instance.micro_batch != part.instance.micro_batch) {
      continue;
    }
    const size_t member = other.instance.member;
    if (parts.size() <= member) parts.resize(member + 1);
    parts[member] = &other;
  }
  return parts;
}

// Of a broadcast or a permute: the bytes of the one whose piece it takes.
void SerialMachine::TakeMoved(const Entry& entry, const Command& part,
                              absl::Span<const Command* const> parts) {
  const OpView op = entry.graph->view(part.instance.node);
  const std::vector<CollectiveMember> members = MembersOf(op);
  const int piece = members[part.instance.member].takes;
  const bool whole = CollectiveOf(op) == CollectiveKind::kBroadcast;
  if (piece < 0) return;
  for (const Command* other : parts) {
    const int given = members[other->instance.member].gives;
    if (given < 0 || (!whole && given != piece)) continue;
    Write(entry, part.results[0], Read(entry, other->operands[0]).data());
  }
}

// Of an all_gather or an all_to_all: its piece of what all pieces of a value
// make.
void SerialMachine::TakeDivided(const Entry& entry, const Command& part,
                                absl::Span<const Command* const> parts,
                                int value) {
  const OpView op = entry.graph->view(part.instance.node);
  const TensorType& type = op.operand_type(value);
  const Sharding from = At(op.node().placement.operands, value);
  const Sharding to = At(op.node().placement.results, value);
  const int members = static_cast<int>(parts.size());
  std::vector<HostTensor> pieces;
  for (int i = 0; i < members; ++i) {
    pieces.emplace_back(InstanceType(type, from, i, members));
    const std::vector<std::byte> bytes = Read(entry, parts[i]->operands[value]);
    std::copy(bytes.begin(), bytes.end(), pieces.back().bytes());
  }
  std::vector<const HostTensor*> joined;
  for (const HostTensor& piece : pieces) joined.push_back(&piece);
  const HostTensor whole = JoinInstances(type, from, joined);
  const HostTensor own = CutInstance(whole, to, part.instance.member, members);
  Write(entry, part.results[value], own.bytes());
}

// Sums of members are not added up here.
void SerialMachine::Take(const Entry& entry, const Command& part,
                         absl::Span<const Command> commands) {
  const std::vector<const Command*> parts = PartsOf(part, commands);
  switch (*CollectiveOf(entry.graph->view(part.instance.node))) {
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kPermute:
      return TakeMoved(entry, part, parts);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
      for (size_t i = 0; i < part.operands.size(); ++i) {
        TakeDivided(entry, part, parts, static_cast<int>(i));
      }
      return;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
      return;
  }
}

absl::StatusOr<std::vector<HostTensor>> SerialMachine::Step(
    int index, absl::Span<const HostTensor> inputs) {
  const Entry& entry = plan_.entries[index];
  for (size_t d = 0; d < arenas_.size(); ++d) {
    std::fill(arenas_[d].begin() + plan_.devices[d].persistent_bytes,
              arenas_[d].end(), kJunk);
  }
  // Where a micro-batch's part of a port begins.
  const auto part = [&](const Port& port, ValueId value, int micro_batch) {
    const int64_t bytes = entry.graph->type(value).num_bytes();
    return port.type.num_bytes() == bytes ? 0 : micro_batch * bytes;
  };
  std::vector<HostTensor> outputs;
  std::vector<int64_t> fetched(entry.outputs.size(), 0);
  for (const Port& port : entry.outputs) outputs.emplace_back(port.type);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Command> commands, Expand(entry));
  for (const Command& command : commands) {
    switch (command.kind) {
      case Command::Kind::kKernel:
        PARTITA_RETURN_IF_ERROR(Kernel(entry, command));
        break;
      case Command::Kind::kCopy:
        Write(entry, command.results[0],
              Read(entry, command.operands[0]).data());
        break;
      case Command::Kind::kCollective:
        Take(entry, command, commands);
        break;
      case Command::Kind::kFeed: {
        const ValueId input = entry.graph->inputs()[command.port];
        const HostTensor whole =
            HostTensor::ConstView(entry.graph->type(input),
                                  inputs[command.port].bytes() +
                                      part(entry.inputs[command.port], input,
                                           command.instance.micro_batch));
        Write(entry, command.results[0],
              Fed(plan_, entry, command, whole).bytes());
        break;
      }
      case Command::Kind::kFetch: {
        const std::vector<std::byte> bytes = Read(entry, command.operands[0]);
        std::copy(bytes.begin(), bytes.end(),
                  outputs[command.port].bytes() +
                      part(entry.outputs[command.port],
                           entry.graph->outputs()[command.port],
                           command.instance.micro_batch));
        fetched[command.port] += static_cast<int64_t>(bytes.size());
        break;
      }
      default:
        break;
    }
  }
  ++step_;
  for (size_t i = 0; i < fetched.size(); ++i) {
    if (fetched[i] != outputs[i].type().num_bytes()) {
      return absl::InternalError("an output not fetched once");
    }
  }
  return outputs;
}

}  // namespace partita
