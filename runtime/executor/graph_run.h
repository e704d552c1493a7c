// Neighbours in launch order that devices do as one graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_GRAPH_RUN_H_
#define PARTITA_RUNTIME_EXECUTOR_GRAPH_RUN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/device/device_graph.h"
#include "runtime/executor/step_division.h"

namespace partita {

// The graph of a run for one slot of the step-local bytes. An action's nodes
// are neighbours, in the order of the actions.
struct BuiltGraph {
  std::unique_ptr<DeviceGraph> graph;
  // How many nodes there are before each action, and in all.
  std::vector<int> nodes_before;
};

// Adds the nodes of `actions`, which are in launch order. Each follows the last
// ones of its stream, and those that came before the records which its stream
// waits for. With `stamps`, the times of all actions are taken.
absl::StatusOr<BuiltGraph> BuildGraph(Device& launches,
                                      const EntryContext& context,
                                      absl::Span<const FedAction> actions,
                                      int slot, bool stamps);

// Nothing that a launch depends on changes from step to step, except the slot:
// inputs are in staging memory, and steps are counted in variables. So each
// slot has a graph, made at load, whose parameters stay. Traced steps have
// graphs of their own, which the first of them makes before it begins.
//
// Thread safety: the launcher's thread only, except StagingBytes.
class GraphRun {
 public:
  // Streams whose commands are issued one by one: in front of the run, since
  // the graph before it, and behind it, up to the next one.
  struct Neighbours {
    std::vector<StreamReplay*> before;
    std::vector<StreamReplay*> behind;
  };
  // Where the graph waits for a stream.
  struct Join {
    StreamReplay* stream = nullptr;
    std::unique_ptr<DeviceEvent> event;
  };

  // `launches` is the device of the stream `in`, in which all graphs are
  // launched. All arguments outlive the run.
  static absl::StatusOr<std::unique_ptr<GraphRun>> New(
      const EntryState& state, Device& launches, DeviceStream& in,
      std::vector<FedAction> actions, const Neighbours& neighbours);

  const std::vector<FedAction>& actions() const { return actions_; }
  const std::vector<Join>& before() const { return before_; }
  const std::vector<StreamReplay*>& behind() const { return behind_; }
  // The device that launches the graphs, and the page-locked memory that these
  // have: equal parts for each slot.
  Device& launches() const { return launches_; }
  int64_t StagingBytes() const { return staging_bytes_; }
  // Which the streams behind the run wait for.
  DeviceEvent& end() { return *end_; }

  // Before each traced step: makes the graphs that take times, once.
  absl::Status PrepareTrace();
  // Stages the inputs, and launches the graph of the step's slot. The stream's
  // device is attached.
  absl::Status Launch(const Step& step);
  // When all that was launched is done.
  absl::Status EndStep();

  // Of a slot; for proofs.
  const BuiltGraph& graph(int slot) const { return graphs_[slot]; }
  // That of traced steps; null before the first of them.
  const BuiltGraph* traced_graph(int slot) const {
    return stamped_.empty() ? nullptr : &stamped_[slot];
  }

 private:
  GraphRun(const EntryState& state, Device& launches, DeviceStream& in,
           std::vector<FedAction> actions)
      : state_(state),
        launches_(launches),
        in_(in),
        actions_(std::move(actions)) {}
  absl::StatusOr<std::vector<BuiltGraph>> BuildForSlots(bool stamps);
  absl::StatusOr<BuiltGraph> Build(int slot, bool stamps) const;

  const EntryState& state_;
  Device& launches_;
  DeviceStream& in_;
  const std::vector<FedAction> actions_;
  std::vector<Join> before_;
  std::vector<StreamReplay*> behind_;
  std::unique_ptr<DeviceEvent> end_;
  std::vector<BuiltGraph> graphs_;   // by slot
  std::vector<BuiltGraph> stamped_;  // by slot; empty until a step is traced
  DeviceGraph* stamps_ = nullptr;    // launched in this step, if it is traced
  std::atomic<int64_t> staging_bytes_{0};
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_GRAPH_RUN_H_
