// Serial execution of a plan.
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
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

constexpr std::byte kJunk{0xA5};

Sharding At(const std::vector<Sharding>& shardings, size_t i) {
  return shardings.empty() ? Sharding() : shardings[i];
}

absl::StatusOr<std::vector<HostTensor>> EvaluateShard(
    const OpView& op, int rank, absl::Span<const HostTensor> operands) {
  const DimensionRule rule = op.op().dimension_rule(op);
  const std::optional<FactorSharding> sharding =
      FactorShardingOfNode(rule, op.node().placement);
  const bool adds = operands.size() > op.node().operands.size();
  if (!sharding.has_value() && !adds) return EvaluateNode(op, operands);
  const int ranks = static_cast<int>(op.node().placement.devices.size());
  Graph shard("shard", &op.graph().literals());
  NodeSpec spec{.op = &op.op(), .attributes = op.node().attributes};
  for (const HostTensor& operand : operands) {
    spec.operands.push_back(shard.AddInput("", operand.type()));
  }
  if (sharding.has_value() && op.op().shard_attributes != nullptr) {
    const Interval interval = RankInterval(rule.factors[sharding->factor].size,
                                           sharding->unit, rank, ranks);
    op.op().shard_attributes(op, sharding->factor, interval.begin, interval.end,
                             spec.attributes);
  }
  PARTITA_ASSIGN_OR_RETURN(const NodeId node, shard.AddNode(std::move(spec)));
  return EvaluateNode(shard.view(node), operands);
}

// The shard of an input that a feed command writes.
HostTensor Fed(const Plan& plan, const Entry& entry, const Command& feed,
               const HostTensor& whole) {
  const Placement& placement = entry.graph->input_placement(feed.port);
  const DeviceId device = entry.streams[feed.stream.index].device;
  const auto rank =
      absl::c_find(placement.devices, plan.devices[device.index].traits.name);
  return ShardOf(whole, At(placement.results, 0),
                 static_cast<int>(rank - placement.devices.begin()),
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
      HostTensor shard(ShardType(op.result_type(0), At(placement.results, 0),
                                 value.rank,
                                 static_cast<int>(placement.devices.size())));
      ConvertLayout(plan.module.literals().tensor(value.initial), shard);
      Write(entry, value.buffer, shard.bytes());
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

// Fills results and workspace with junk first, so that a kernel cannot depend
// on old bytes.
absl::Status SerialMachine::Kernel(const Entry& entry, const Command& command) {
  const OpView op = entry.graph->view(command.instance.node);
  const Placement& placement = op.node().placement;
  const int ranks = static_cast<int>(placement.devices.size());
  std::vector<HostTensor> operands;
  for (size_t i = 0; i < command.operands.size(); ++i) {
    // After the operands of `accumulate` comes the sum so far.
    const bool is_sum = static_cast<int>(i) == op.num_operands();
    const Sharding sharding =
        is_sum ? At(placement.results, 0) : At(placement.operands, i);
    HostTensor stored(ShardType(is_sum ? op.result_type(0) : op.operand_type(i),
                                sharding, command.instance.rank, ranks));
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
  PARTITA_ASSIGN_OR_RETURN(const std::vector<HostTensor> results,
                           EvaluateShard(op, command.instance.rank, operands));
  for (size_t i = 0; i < results.size(); ++i) {
    TensorType type = results[i].type();
    type.layout = op.result_type(i).layout;
    HostTensor stored(type);
    ConvertLayout(results[i], stored);
    Write(entry, command.results[i], stored.bytes());
  }
  return absl::OkStatus();
}

// The command of each rank of the collective that `command` belongs to.
std::vector<const Command*> SerialMachine::CommandsByRank(
    const Command& command, absl::Span<const Command> commands) {
  std::vector<const Command*> by_rank;
  for (const Command& other : commands) {
    if (other.kind != Command::Kind::kCollective ||
        other.instance.node != command.instance.node ||
        other.instance.micro_batch != command.instance.micro_batch) {
      continue;
    }
    const size_t rank = other.instance.rank;
    if (by_rank.size() <= rank) by_rank.resize(rank + 1);
    by_rank[rank] = &other;
  }
  return by_rank;
}

// The devices of a value change: copies the bytes of the rank that sends this
// shard.
void SerialMachine::MoveShard(const Entry& entry, const Command& command,
                              absl::Span<const Command* const> by_rank) {
  const OpView op = entry.graph->view(command.instance.node);
  const std::vector<Participant> ranks = ParticipantsOf(op);
  const int shard = ranks[command.instance.rank].takes;
  const bool whole =
      DefOf(*CollectiveOf(op)).routes == CollectiveRoutes::kFromRoot;
  if (shard < 0) return;
  for (const Command* other : by_rank) {
    const int sent = ranks[other->instance.rank].gives;
    if (sent < 0 || (!whole && sent != shard)) continue;
    Write(entry, command.results[0], Read(entry, other->operands[0]).data());
  }
}

// The sharding changes: joins the shards of all ranks, and takes the shard
// of this one.
void SerialMachine::Reshard(const Entry& entry, const Command& command,
                            absl::Span<const Command* const> by_rank,
                            int value) {
  const OpView op = entry.graph->view(command.instance.node);
  const TensorType& type = op.operand_type(value);
  const Sharding from = At(op.node().placement.operands, value);
  const Sharding to = At(op.node().placement.results, value);
  const int ranks = static_cast<int>(by_rank.size());
  std::vector<HostTensor> shards;
  for (int i = 0; i < ranks; ++i) {
    shards.emplace_back(ShardType(type, from, i, ranks));
    const std::vector<std::byte> bytes =
        Read(entry, by_rank[i]->operands[value]);
    std::copy(bytes.begin(), bytes.end(), shards.back().bytes());
  }
  std::vector<const HostTensor*> pointers;
  for (const HostTensor& shard : shards) pointers.push_back(&shard);
  const HostTensor whole = JoinShards(type, from, pointers);
  const HostTensor own = ShardOf(whole, to, command.instance.rank, ranks);
  Write(entry, command.results[value], own.bytes());
}

// Reductions do nothing here.
void SerialMachine::RunCollective(const Entry& entry, const Command& command,
                                  absl::Span<const Command> commands) {
  const std::vector<const Command*> by_rank = CommandsByRank(command, commands);
  const CollectiveDef& def =
      DefOf(*CollectiveOf(entry.graph->view(command.instance.node)));
  if (def.reduces) return;
  if (def.routes != CollectiveRoutes::kAll) {
    return MoveShard(entry, command, by_rank);
  }
  for (size_t i = 0; i < command.operands.size(); ++i) {
    Reshard(entry, command, by_rank, static_cast<int>(i));
  }
}

absl::StatusOr<std::vector<HostTensor>> SerialMachine::Step(
    int index, absl::Span<const HostTensor> inputs) {
  const Entry& entry = plan_.entries[index];
  for (size_t d = 0; d < arenas_.size(); ++d) {
    std::fill(arenas_[d].begin() + plan_.devices[d].persistent_bytes,
              arenas_[d].end(), kJunk);
  }
  // The offset of a micro-batch in a port, in bytes.
  const auto port_offset = [&](const Port& port, ValueId value,
                               MicroBatchId micro_batch) {
    const int64_t bytes = entry.graph->type(value).num_bytes();
    return port.type.num_bytes() == bytes ? 0 : micro_batch.index * bytes;
  };
  std::vector<HostTensor> outputs;
  std::vector<int64_t> fetched(entry.outputs.size(), 0);
  for (const Port& port : entry.outputs) outputs.emplace_back(port.type);
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
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
        RunCollective(entry, command, commands);
        break;
      case Command::Kind::kFeed: {
        const ValueId input = entry.graph->inputs()[command.port];
        const HostTensor whole = HostTensor::ConstView(
            entry.graph->type(input),
            inputs[command.port].bytes() +
                port_offset(entry.inputs[command.port], input,
                            command.instance.micro_batch));
        Write(entry, command.results[0],
              Fed(plan_, entry, command, whole).bytes());
        break;
      }
      case Command::Kind::kFetch: {
        const std::vector<std::byte> bytes = Read(entry, command.operands[0]);
        std::copy(bytes.begin(), bytes.end(),
                  outputs[command.port].bytes() +
                      port_offset(entry.outputs[command.port],
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
