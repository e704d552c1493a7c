// Memory layout of plans that tests build by hand.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/plan_builder.h"

#include "graph/core_ops.h"

namespace partita {
namespace {

int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

PlanBuilder::PlanBuilder(int devices, DeviceKind kind)
    : plan_(std::make_shared<Plan>()), graph_(&plan_->module.AddFunction("f")) {
  plan_->name = "hand_made";
  for (int d = 0; d < devices; ++d) {
    PlanDevice device;
    device.traits.name =
        absl::StrCat(kind == DeviceKind::kCpu ? "cpu:" : "gpu:", d);
    device.traits.kind = kind;
    device.memory = int64_t{1} << 30;
    plan_->devices.push_back(device);
  }
  Entry entry;
  entry.name = "f";
  entry.graph = graph_;
  entry.programs.push_back({.name = "main"});
  entry.schedule.push_back({});
  plan_->entries.push_back(std::move(entry));
}

ValueId PlanBuilder::Input(const std::string& name, const TensorType& type) {
  entry().inputs.push_back({name, type});
  return graph_->AddInput(name, type);
}

ValueId PlanBuilder::Node(const OpDef& op, ValueIds operands,
                          const std::string& name) {
  auto value = graph_->AddValue(
      {.op = &op, .operands = std::move(operands), .result_names = {name}});
  partita::Node& node = graph_->node(graph_->value(*value).defining_node);
  node.kernel = KernelBinding{.kernel = "test.eval"};
  return *value;
}

void PlanBuilder::Output(const std::string& name, ValueId value) {
  entry().outputs.push_back({name, graph_->type(value)});
  std::vector<ValueId> outputs = graph_->outputs();
  outputs.push_back(value);
  std::vector<std::string> names = graph_->output_names();
  names.push_back(name);
  graph_->SetOutputs(outputs, names);
}

BufferId PlanBuilder::Persistent(const std::string& name, int device,
                                 ValueId value, LiteralId literal) {
  const BufferId buffer =
      RoomOf(name, device, graph_->type(value).num_bytes(), true);
  entry().persistent.push_back({.buffer = buffer,
                                .node = graph_->value(value).defining_node,
                                .initial = literal});
  return buffer;
}

BufferId PlanBuilder::Constant(const std::string& name, int device,
                               HostTensor value, ValueId& result) {
  const LiteralId literal = plan_->module.literals().Add(std::move(value));
  result = graph_->AddConstant(literal, name);
  return Persistent(name, device, result, literal);
}

BufferId PlanBuilder::Variable(const std::string& name, int device,
                               HostTensor first, ValueId& result) {
  const TensorType type = first.type();
  const LiteralId literal = plan_->module.literals().Add(std::move(first));
  plan_->module.AddVariable({name, type, literal, true});
  Attributes attributes;
  attributes.Set("name", name);
  attributes.Set("dtype", type.dtype);
  attributes.Set("shape",
                 std::vector<int64_t>(type.dims.begin(), type.dims.end()));
  result = *graph_->AddValue(
      {.op = &kVariable, .attributes = attributes, .result_names = {name}});
  return Persistent(name, device, result, literal);
}

BufferId PlanBuilder::Room(const std::string& name, int device, ValueId value) {
  return RoomOf(name, device, graph_->type(value).num_bytes());
}

BufferId PlanBuilder::RoomOf(const std::string& name, int device, int64_t bytes,
                             bool persistent) {
  PlanDevice& where = plan_->devices[device];
  int64_t& end = persistent ? where.persistent_bytes : where.step_bytes;
  entry().buffers.push_back(
      {name, DeviceId(device), {.offset = end, .block = bytes}, persistent});
  end += Aligned(bytes);
  return BufferId(static_cast<int32_t>(entry().buffers.size()) - 1);
}

StreamId PlanBuilder::NewStream(const std::string& name, int device) {
  entry().streams.push_back({name, DeviceId(device)});
  return StreamId(static_cast<int32_t>(entry().streams.size()) - 1);
}

Command& PlanBuilder::Add(Command::Kind kind, StreamId stream) {
  Command command;
  command.kind = kind;
  command.stream = stream;
  entry().programs[0].commands.push_back(command);
  return entry().programs[0].commands.back();
}

void PlanBuilder::Feed(StreamId stream, int port, BufferId to) {
  Command& command = Add(Command::Kind::kFeed, stream);
  command.port = port;
  command.results = {to};
}

void PlanBuilder::Fetch(StreamId stream, int port, BufferId from) {
  Command& command = Add(Command::Kind::kFetch, stream);
  command.port = port;
  command.operands = {from};
}

Command& PlanBuilder::Kernel(StreamId stream, ValueId result,
                             std::vector<BufferId> operands, BufferId to) {
  Command& command = Add(Command::Kind::kKernel, stream);
  command.instance.node = graph_->value(result).defining_node;
  command.operands = std::move(operands);
  command.results = {to};
  return command;
}

void PlanBuilder::Copy(StreamId stream, BufferId from, BufferId to) {
  Command& command = Add(Command::Kind::kCopy, stream);
  command.operands = {from};
  command.results = {to};
}

void PlanBuilder::Record(StreamId stream, EventId event) {
  Add(Command::Kind::kRecord, stream).event = event;
}

void PlanBuilder::Wait(StreamId stream, EventId event) {
  Add(Command::Kind::kWait, stream).event = event;
}

void PlanBuilder::Collective(StreamId stream, ValueId result, int rank,
                             BufferId from, BufferId to, GroupId group) {
  Command& command = Add(Command::Kind::kCollective, stream);
  command.instance = {graph_->value(result).defining_node, rank};
  if (from.valid()) command.operands = {from};
  if (to.valid()) command.results = {to};
  command.group = group;
}

GroupId PlanBuilder::NewGroup(std::vector<StreamId> ranks) {
  entry().groups.push_back({std::move(ranks)});
  return GroupId(static_cast<int32_t>(entry().groups.size()) - 1);
}

void PlanBuilder::Send(StreamId stream, ValueId result, BufferId from,
                       ChannelId channel) {
  Command& command = Add(Command::Kind::kSend, stream);
  command.instance.node = graph_->value(result).defining_node;
  command.operands = {from};
  command.channel = channel;
}

void PlanBuilder::Recv(StreamId stream, ValueId result, BufferId to,
                       ChannelId channel) {
  Command& command = Add(Command::Kind::kRecv, stream);
  command.instance.node = graph_->value(result).defining_node;
  command.results = {to};
  command.channel = channel;
}

ChannelId PlanBuilder::NewChannel(StreamId sender, StreamId receiver,
                                  std::vector<BufferId> slots) {
  const int capacity = static_cast<int>(slots.size());
  entry().channels.push_back({sender, receiver, capacity, std::move(slots)});
  return ChannelId(static_cast<int32_t>(entry().channels.size()) - 1);
}

std::shared_ptr<Plan> PlanBuilder::Finish() { return std::move(plan_); }

}  // namespace partita
