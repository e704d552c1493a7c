// Builds and launches graphs from actions.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/graph_run.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/status_macros.h"
#include "runtime/executor/failure.h"

namespace partita {
namespace {

using Kind = Action::Kind;
using Nodes = std::vector<DeviceNodeId>;

// The edges are those of the plan: the order of each stream, and from a record
// to its waits. A record and a wait are no nodes. An event that was recorded
// before this graph orders nothing here: all of the graph is behind it.
class GraphBuilder {
 public:
  GraphBuilder(DeviceGraph& graph, int slot, bool stamps)
      : graph_(graph), slot_(slot), stamps_(stamps) {}

  absl::Status Add(const FedAction& fed) {
    MeasuredTime& time = fed.stream->time(slot_, fed.index);
    PARTITA_RETURN_IF_ERROR(Stamp(fed, time.start));
    PARTITA_RETURN_IF_ERROR(AddWork(fed));
    PARTITA_RETURN_IF_ERROR(Stamp(fed, time.end));
    // Behind the record's own time: no wait for it ends before that.
    if (fed.action().kind == Kind::kRecord) {
      recorded_[fed.action().event] = last_[fed.stream];
    }
    return absl::OkStatus();
  }

 private:
  absl::Status AddWork(const FedAction& fed) {
    const StreamProgram& program = fed.stream->program(slot_);
    const Action& action = program.actions[fed.index];
    Nodes& last = last_[fed.stream];
    if (action.kind == Kind::kRecord) return absl::OkStatus();
    if (action.kind == Kind::kWait) {
      for (const DeviceNodeId node : recorded_[action.event]) {
        if (!absl::c_linear_search(last, node)) last.push_back(node);
      }
      return absl::OkStatus();
    }
    DeviceStream& stream = fed.stream->device_stream();
    if (action.kind == Kind::kKernel) {
      const std::optional<LaunchDescription> launch =
          action.kernel->Describe(action.args);
      return Follow(graph_.AddKernel(stream, *launch, last), last);
    }
    const Transfer transfer = DeviceTransferOf(program, action);
    if (transfer.to.size() == 0) return absl::OkStatus();
    return Follow(graph_.AddCopy(stream, transfer.to, transfer.from, last),
                  last);
  }

  absl::Status Stamp(const FedAction& fed, SteadyTime& time) {
    if (!stamps_) return absl::OkStatus();
    Nodes& last = last_[fed.stream];
    return Follow(graph_.AddStamp(fed.stream->device_stream(), time, last),
                  last);
  }

  static absl::Status Follow(const absl::StatusOr<DeviceNodeId>& node,
                             Nodes& last) {
    if (node.ok()) last = {*node};
    return node.status();
  }

  DeviceGraph& graph_;
  const int slot_;
  const bool stamps_;
  // The nodes that the next one of each stream follows, and those that the
  // waits for each event do.
  absl::flat_hash_map<const StreamReplay*, Nodes> last_;
  absl::flat_hash_map<const DeviceEvent*, Nodes> recorded_;
};

}  // namespace

absl::StatusOr<BuiltGraph> BuildGraph(Device& launches,
                                      const EntryContext& context,
                                      absl::Span<const FedAction> actions,
                                      int slot, bool stamps) {
  BuiltGraph built;
  PARTITA_ASSIGN_OR_RETURN(built.graph, launches.NewGraph());
  GraphBuilder builder(*built.graph, slot, stamps);
  for (const FedAction& fed : actions) {
    built.nodes_before.push_back(built.graph->num_nodes());
    if (absl::Status status = builder.Add(fed); !status.ok()) {
      const CommandId id = fed.action().command;
      return AtCommand(DescribeCommand(*context.plan, *context.entry,
                                       (*context.commands)[id], id),
                       status);
    }
  }
  built.nodes_before.push_back(built.graph->num_nodes());
  return built;
}

absl::StatusOr<std::unique_ptr<GraphRun>> GraphRun::New(
    const EntryState& state, Device& launches, DeviceStream& in,
    std::vector<FedAction> actions, const Neighbours& neighbours) {
  std::unique_ptr<GraphRun> run(
      new GraphRun(state, launches, in, std::move(actions)));
  for (StreamReplay* stream : neighbours.before) {
    Join& join = run->before_.emplace_back();
    join.stream = stream;
    PARTITA_ASSIGN_OR_RETURN(join.event, stream->device().NewEvent());
  }
  run->behind_ = neighbours.behind;
  PARTITA_ASSIGN_OR_RETURN(run->end_, launches.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(run->graphs_, run->BuildForSlots(/*stamps=*/false));
  return run;
}

absl::StatusOr<BuiltGraph> GraphRun::Build(int slot, bool stamps) const {
  PARTITA_ASSIGN_OR_RETURN(
      BuiltGraph built,
      BuildGraph(launches_, state_.context, actions_, slot, stamps));
  if (built.graph->num_nodes() > 0) {
    PARTITA_RETURN_IF_ERROR(built.graph->Instantiate(in_));
  }
  return built;
}

absl::StatusOr<std::vector<BuiltGraph>> GraphRun::BuildForSlots(bool stamps) {
  std::vector<BuiltGraph> graphs;
  int64_t bytes = 0;
  for (int slot = 0; slot < state_.context.entry->depth; ++slot) {
    PARTITA_ASSIGN_OR_RETURN(graphs.emplace_back(), Build(slot, stamps));
    bytes += graphs.back().graph->StagingBytes();
  }
  staging_bytes_ += bytes;
  return graphs;
}

absl::Status GraphRun::PrepareTrace() {
  if (!stamped_.empty()) return absl::OkStatus();
  PARTITA_ASSIGN_OR_RETURN(stamped_, BuildForSlots(/*stamps=*/true));
  return absl::OkStatus();
}

absl::Status GraphRun::Launch(const Step& step) {
  const size_t slot = step.number % graphs_.size();
  for (const FedAction& fed : actions_) {
    if (fed.action().kind != Kind::kFeed) continue;
    fed.stream->StageFeed(step, fed.index);
  }
  DeviceGraph& graph = *(step.trace ? stamped_ : graphs_)[slot].graph;
  if (graph.num_nodes() == 0) return absl::OkStatus();
  PARTITA_RETURN_IF_ERROR(graph.Launch(in_));
  if (step.trace) stamps_ = &graph;
  return absl::OkStatus();
}

absl::Status GraphRun::EndStep() {
  DeviceGraph* const stamps = std::exchange(stamps_, nullptr);
  return stamps == nullptr ? absl::OkStatus() : stamps->ResolveStamps();
}

}  // namespace partita
