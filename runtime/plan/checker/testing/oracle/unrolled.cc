// The commands of a few steps as the oracle's machines run them.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/unrolled.h"

#include <algorithm>
#include <utility>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "runtime/plan/checker/testing/oracle/op_partners.h"
#include "runtime/plan/checker/testing/oracle/roles.h"
#include "runtime/plan/checker/testing/oracle/semantics.h"

namespace partita {
namespace {

using Kind = Command::Kind;

constexpr int64_t kMostMemory = 1 << 16;

absl::Status NoMachine(absl::string_view why) {
  return absl::InvalidArgumentError(why);
}

template <typename Id>
bool Exists(Id id, size_t bound) {
  return id.valid() && static_cast<size_t>(id.index) < bound;
}

// An accumulation over micro-batches also reads the sum so far.
size_t NumOperands(const Node& node) {
  return node.operands.size() + (node.op == &kAccumulate ? 1 : 0);
}

// The rank has an operand for each value if it sends a shard, and a result for
// each value if it receives one.
bool FitsRole(const OpView& node, const Command& command) {
  const std::vector<Role> roles = RolesIn(node);
  const int rank = command.instance.rank;
  if (rank < 0 || static_cast<size_t>(rank) >= roles.size()) return false;
  const size_t values = node.node().operands.size();
  const Role& role = roles[rank];
  return command.operands.size() == (role.sends < 0 ? 0 : values) &&
         command.results.size() == (role.receives < 0 ? 0 : values);
}

// What a machine needs to run a command at all.
absl::Status CheckRunnable(const Entry& entry, const Command& command) {
  const auto buffer = [&](BufferId id) {
    return Exists(id, entry.buffers.size());
  };
  const bool buffers =
      std::all_of(command.operands.begin(), command.operands.end(), buffer) &&
      std::all_of(command.results.begin(), command.results.end(), buffer) &&
      (!command.workspace.valid() || buffer(command.workspace));
  if (!buffers || !Exists(command.stream, entry.streams.size())) {
    return NoMachine("no such buffer or stream");
  }
  const size_t operands = command.operands.size();
  const size_t results = command.results.size();
  const Graph& graph = *entry.graph;
  const bool node = command.instance.node.valid() &&
                    command.instance.node.index < graph.node_id_bound() &&
                    graph.alive(command.instance.node);
  switch (command.kind) {
    case Kind::kKernel:
      if (!node) return NoMachine("no such node");
      if (operands != NumOperands(graph.node(command.instance.node)) ||
          results != graph.node(command.instance.node).results.size()) {
        return NoMachine("operands");
      }
      return absl::OkStatus();
    case Kind::kCopy:
      return operands == 1 && results == 1 ? absl::OkStatus()
                                           : NoMachine("operands");
    case Kind::kRecord:
    case Kind::kWait:
      return Exists(command.event, entry.num_events) ? absl::OkStatus()
                                                     : NoMachine("no event");
    case Kind::kFeed:
      return results == 1 && command.port >= 0 &&
                     static_cast<size_t>(command.port) < entry.inputs.size()
                 ? absl::OkStatus()
                 : NoMachine("no such port");
    case Kind::kFetch:
      return operands == 1 && command.port >= 0 &&
                     static_cast<size_t>(command.port) < entry.outputs.size()
                 ? absl::OkStatus()
                 : NoMachine("no such port");
    case Kind::kCollective:
      return node && Exists(command.group, entry.groups.size()) &&
                     FitsRole(graph.view(command.instance.node), command)
                 ? absl::OkStatus()
                 : NoMachine("no such group");
    case Kind::kSend:
      return operands == 1 && Exists(command.channel, entry.channels.size()) &&
                     std::all_of(
                         entry.channels[command.channel.index].slots.begin(),
                         entry.channels[command.channel.index].slots.end(),
                         buffer)
                 ? absl::OkStatus()
                 : NoMachine("no such channel");
    case Kind::kRecv:
      return results == 1 && Exists(command.channel, entry.channels.size())
                 ? absl::OkStatus()
                 : NoMachine("no such channel");
  }
  return NoMachine("no such kind");
}

absl::Status LayOut(Unrolled& unrolled) {
  int64_t at = 0;
  for (const PlanDevice& device : unrolled.plan->devices) {
    unrolled.arena_begin.push_back(at);
    const int64_t bytes =
        device.persistent_bytes + unrolled.depth * device.step_bytes;
    if (device.persistent_bytes < 0 || device.step_bytes < 0 ||
        bytes > kMostMemory) {
      return NoMachine("too much memory for an oracle");
    }
    if (bytes > device.memory) unrolled.outside = true;
    for (int64_t b = 0; b < bytes; ++b) {
      unrolled.persistent.push_back(b < device.persistent_bytes);
    }
    at += bytes;
  }
  unrolled.memory = static_cast<int32_t>(at);
  return absl::OkStatus();
}

bool IsSplit(const ValueSharding& held) {
  return held.sharding.kind == Sharding::Kind::kSplit;
}

// The smaller side of a collective may be in the rank's slice of the larger
// side. If both sides are split, they are different bytes, even if they have
// the same size.
bool IsInPlace(const OpView& node, int value, int rank,
               const Addresses& operand, const Addresses& result) {
  if (IsSplit(OperandValueSharding(node.node(), value)) &&
      IsSplit(ResultValueSharding(node.node(), value))) {
    return false;
  }
  const bool gathers = operand.size() <= result.size();
  const Addresses& part = gathers ? operand : result;
  const Addresses& whole = gathers ? result : operand;
  const ValueSharding held = gathers ? OperandValueSharding(node.node(), value)
                                     : ResultValueSharding(node.node(), value);
  const std::vector<int64_t> offsets =
      OffsetsInWhole(node.operand_type(value).RowMajor(), held, rank);
  if (operand.size() == result.size()) return operand == result;
  if (offsets.size() != part.size()) return false;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] >= static_cast<int64_t>(whole.size()) ||
        whole[offsets[i]] != part[i]) {
      return false;
    }
  }
  return true;
}

// True if another result than number `k` overlaps operand `k`: the values of a
// bucket may be processed in any order.
bool OverlapsAnotherResult(const Op& op, size_t k) {
  for (size_t r = 0; r < op.results.size(); ++r) {
    if (r == k) continue;
    for (int32_t address : op.results[r]) {
      if (std::find(op.operands[k].begin(), op.operands[k].end(), address) !=
          op.operands[k].end()) {
        return true;
      }
    }
  }
  return false;
}

std::vector<bool> InPlace(const Unrolled& unrolled, const Op& op) {
  std::vector<bool> in_place(op.operands.size());
  if (op.what->kind != Kind::kKernel && op.what->kind != Kind::kCollective) {
    return in_place;
  }
  const OpView node = unrolled.entry->graph->view(op.what->instance.node);
  if (op.what->kind == Kind::kCollective) {
    for (size_t k = 0; k < op.operands.size() && k < op.results.size(); ++k) {
      in_place[k] = IsInPlace(node, static_cast<int>(k), op.what->instance.rank,
                              op.operands[k], op.results[k]) &&
                    !OverlapsAnotherResult(op, k);
    }
    return in_place;
  }
  if (!node.node().kernel.has_value()) return in_place;
  for (const InPlacePair& pair : node.node().kernel->in_place) {
    if (op.operands.at(pair.operand) == op.results.at(pair.result)) {
      in_place[pair.operand] = true;
    }
  }
  return in_place;
}

void AddOps(Unrolled& unrolled) {
  std::vector<int> last(unrolled.entry->streams.size(), -1);
  for (int step = 0; step < unrolled.steps; ++step) {
    for (CommandId c : unrolled.commands.ids()) {
      const Command& command = unrolled.commands[c];
      Op op;
      op.command = c;
      op.step = step;
      op.what = &command;
      const auto addresses = [&](BufferId id) {
        return unrolled.AddressesOf(unrolled.entry->buffers[id.index], step);
      };
      for (BufferId id : command.operands) op.operands.push_back(addresses(id));
      for (BufferId id : command.results) op.results.push_back(addresses(id));
      if (command.workspace.valid()) {
        op.workspace = addresses(command.workspace);
      }
      op.in_place = InPlace(unrolled, op);
      op.previous = last[command.stream.index];
      last[command.stream.index] = static_cast<int>(unrolled.ops.size());
      unrolled.ops.push_back(std::move(op));
    }
  }
}

// True if a byte of a buffer is outside its part of the arena.
bool Outside(const Plan& plan, const Buffer& buffer) {
  const PlanDevice& device = plan.devices[buffer.device.index];
  const int64_t part =
      buffer.persistent ? device.persistent_bytes : device.step_bytes;
  const Range& range = buffer.range;
  return !range.empty() && (range.offset < 0 || range.end() > part);
}

}  // namespace

Addresses Unrolled::AddressesOf(const Buffer& buffer, int step) const {
  const PlanDevice& device = plan->devices[buffer.device.index];
  int64_t base = arena_begin[buffer.device.index];
  if (!buffer.persistent) {
    base += device.persistent_bytes + step % depth * device.step_bytes;
  }
  Addresses addresses;
  for (int64_t i = 0; i < buffer.range.count; ++i) {
    for (int64_t b = 0; b < buffer.range.block; ++b) {
      const int64_t at =
          base + buffer.range.offset + i * buffer.range.stride + b;
      if (at >= 0 && at < memory) addresses.push_back(static_cast<int32_t>(at));
    }
  }
  return addresses;
}

absl::StatusOr<Unrolled> Unroll(const Plan& plan, int entry, int steps) {
  Unrolled unrolled;
  unrolled.plan = &plan;
  unrolled.entry = &plan.entries[entry];
  unrolled.depth = unrolled.entry->depth;
  unrolled.steps = steps;
  PARTITA_ASSIGN_OR_RETURN(unrolled.commands, Expand(*unrolled.entry));
  for (const Buffer& buffer : unrolled.entry->buffers) {
    const Range& range = buffer.range;
    if (!Exists(buffer.device, plan.devices.size()) || range.block < 0 ||
        range.count < 0 || range.block > kMostMemory ||
        range.count > kMostMemory || range.size() > kMostMemory ||
        range.stride < 0 || range.stride > kMostMemory) {
      return NoMachine("a range for no oracle");
    }
  }
  for (const Command& command : unrolled.commands) {
    PARTITA_RETURN_IF_ERROR(CheckRunnable(*unrolled.entry, command));
    unrolled.micro_batches = std::max(unrolled.micro_batches,
                                      command.instance.micro_batch.index + 1);
    const auto look = [&](BufferId id) {
      if (Outside(plan, unrolled.entry->buffers[id.index])) {
        unrolled.outside = true;
      }
    };
    for (BufferId id : command.operands) look(id);
    for (BufferId id : command.results) look(id);
    if (command.workspace.valid()) look(command.workspace);
  }
  for (const Channel& channel : unrolled.entry->channels) {
    for (BufferId id : channel.slots) {
      if (Exists(id, unrolled.entry->buffers.size()) &&
          Outside(plan, unrolled.entry->buffers[id.index])) {
        unrolled.outside = true;
      }
    }
  }
  // If the graph states the number of micro-batches, the commands do not.
  for (const OpView& node : unrolled.entry->graph->ops(kAccumulate)) {
    unrolled.micro_batches = static_cast<int>(node.attr_int("micro_batches"));
  }
  PARTITA_RETURN_IF_ERROR(LayOut(unrolled));
  AddOps(unrolled);
  NumberPartners(unrolled);
  LocateMessages(unrolled);
  FindConflicts(unrolled);
  return unrolled;
}

}  // namespace partita
