// Builds plans by hand for tests and benchmarks: buffers side by side, commands
// in the order of the calls.
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

// A plan of one entry and one graph. Add nodes to graph() first, with Node(),
// which binds "test.eval".
class PlanBuilder {
 public:
  explicit PlanBuilder(int devices, DeviceKind kind = DeviceKind::kCpu);

  Graph& graph() { return *graph_; }
  Plan& plan() { return *plan_; }
  Entry& entry() { return plan_->entries[0]; }

  ValueId Input(const std::string& name, const TensorType& type);
  // Adds a node with one result and a kernel.
  ValueId Node(const OpDef& op, ValueIds operands, const std::string& name);
  void Output(const std::string& name, ValueId value);
  BufferId Constant(const std::string& name, int device, HostTensor value,
                    ValueId& result);
  BufferId Variable(const std::string& name, int device, HostTensor first,
                    ValueId& result);

  // Adds a buffer for a value on a device.
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
  // Adds one rank's command of the collective that makes `result`. An invalid
  // buffer: the rank has no operand, or no result.
  void Collective(StreamId stream, ValueId result, int rank, BufferId from,
                  BufferId to, GroupId group);
  GroupId NewGroup(std::vector<StreamId> ranks);
  void Send(StreamId stream, ValueId result, BufferId from, ChannelId channel);
  void Recv(StreamId stream, ValueId result, BufferId to, ChannelId channel);
  // `slots` has one buffer for each message that may be in flight.
  ChannelId NewChannel(StreamId sender, StreamId receiver,
                       std::vector<BufferId> slots);

  // Returns the finished plan. The builder is empty afterwards.
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
