// Hand-made plans for tests and benchmarks: buffers side by side, commands in
// the order of the calls.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_PLAN_BUILDER_H_
#define PARTITA_RUNTIME_EXECUTOR_PLAN_BUILDER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "runtime/plan/plan.h"

namespace partita {

// One entry over one graph. Nodes are added to graph() first, by Node(), which
// binds "test.eval".
class PlanBuilder {
 public:
  explicit PlanBuilder(int devices, DeviceKind kind = DeviceKind::kCpu);

  Graph& graph() { return *graph_; }
  Plan& plan() { return *plan_; }
  Entry& entry() { return plan_->entries[0]; }

  ValueId Input(const std::string& name, const TensorType& type);
  // A node with one result and a kernel.
  ValueId Node(const OpDef& op, ValueIds operands, const std::string& name);
  void Output(const std::string& name, ValueId value);
  BufferId Constant(const std::string& name, int device, HostTensor value,
                    ValueId& result);
  BufferId Variable(const std::string& name, int device, HostTensor first,
                    ValueId& result);

  // Room for a value on a device.
  BufferId Room(const std::string& name, int device, ValueId value);
  BufferId RoomOf(const std::string& name, int device, int64_t bytes,
                  bool persistent = false);
  StreamId NewStream(const std::string& name, int device);
  EventId NewEvent() { return EventId(entry().num_events++); }

  void Feed(StreamId stream, int port, BufferId to);
  void Fetch(StreamId stream, int port, BufferId from);
  Command& Kernel(StreamId stream, ValueId result,
                  std::vector<BufferId> operands, BufferId to);
  void Copy(StreamId stream, BufferId from, BufferId to);
  void Record(StreamId stream, EventId event);
  void Wait(StreamId stream, EventId event);
  // One member's part of the collective that makes `result`; a buffer that is
  // not valid: it gives, or takes, nothing.
  void Collective(StreamId stream, ValueId result, int member, BufferId from,
                  BufferId to, GroupId group);
  GroupId NewGroup(std::vector<StreamId> members);
  void Send(StreamId stream, ValueId result, BufferId from, ChannelId channel);
  void Recv(StreamId stream, ValueId result, BufferId to, ChannelId channel);
  // `slots` is as many buffers as messages may be under way.
  ChannelId NewChannel(StreamId sender, StreamId receiver,
                       std::vector<BufferId> slots);

  // The finished plan; the builder is empty afterwards.
  std::shared_ptr<Plan> Finish();

 private:
  Command& Add(Command::Kind kind, StreamId stream);
  BufferId Persistent(const std::string& name, int device, ValueId value,
                      LiteralId literal);

  std::shared_ptr<Plan> plan_;
  Graph* graph_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_PLAN_BUILDER_H_
