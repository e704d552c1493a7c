// The thread that feeds streams: it binds their kernels, then replays their
// programs in launch order, step after step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_LAUNCHER_H_
#define PARTITA_RUNTIME_EXECUTOR_LAUNCHER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/graph_run.h"
#include "runtime/executor/session_report.h"
#include "runtime/executor/step_division.h"
#include "runtime/executor/stream_replay.h"

namespace partita {

// A stream of the host has a launcher of its own, as its commands run on the
// launcher's thread. All streams of an entry that run behind the host have one
// launcher, which issues their commands in launch order: whatever a command
// waits for on the host was issued before, and a device sees one order.
//
// Where such devices launch graphs, runs of commands between those that need
// the host are one graph each (step_division.h), launched in a stream of the
// launcher's own. A graph begins when what was issued before is done, and what
// is issued behind it begins when the graph is done: in launch order, so no
// wait leads back. Steps with random delays are issued command by command all
// the same.
//
// Thread safety: the entry's owner calls all functions.
class Launcher {
 public:
  // `streams`, at least one, outlive the launcher.
  Launcher(EntryState& state, std::vector<StreamReplay*> streams);
  // Waits for the thread, which ends when EntryState::closing is set.
  ~Launcher();

  // Prepares the streams on the calling thread, which later calls RunInline.
  absl::Status PrepareInline();
  // Starts the thread, which prepares the streams and then waits for steps.
  // WaitUntilPrepared returns ResourceExhausted if it cannot be started.
  void Start();
  // Waits until the thread has prepared the streams, and returns the status.
  absl::Status WaitUntilPrepared();

  void RunInline(Step& step);

  // Once prepared: how the commands of devices behind the host are launched;
  // none if there are no such devices.
  std::optional<StepLaunches> Launches() const;
  // The runs that are graphs, in launch order.
  std::vector<const GraphRun*> graphs() const;

 private:
  // Neighbours in launch order: actions [begin, end) of one stream.
  struct Segment {
    StreamReplay* stream;
    size_t begin;
    size_t end;
  };
  // One segment; or several of one action each, the ranks of one collective:
  // all start before any of them waits.
  using Batch = std::vector<Segment>;
  // A graph, or what is issued between two of them.
  struct Section {
    std::unique_ptr<GraphRun> graph;
    std::vector<Batch> issued;
  };

  void PrepareAndLoop();
  absl::Status Prepare();
  absl::Status PrepareGraphs(absl::Span<const FedAction> actions);
  std::vector<FedAction> ActionsInLaunchOrder() const;
  // The collective of the segment's action, or null. No other action is in such
  // a segment.
  const Communication* CollectiveAt(const Segment& segment) const;
  std::vector<Batch> BatchesOf(absl::Span<const FedAction> actions) const;
  void Append(const Segment& action, std::vector<Batch>& batches) const;
  void Loop();
  void RunStep(Step& step);
  bool UsesGraphs(const Step& step) const;
  void RunSections(Step& step);
  absl::Status PrepareTrace();
  void RunBatches(Step& step, const std::vector<Batch>& batches);
  void RunTogether(Step& step, const Batch& ranks);
  void RunGraph(Step& step, GraphRun& run);
  // Calls `see` of the observer, if there is one, for each command of the run.
  void Observe(const Step& step, const GraphRun& run,
               void (CommandObserver::*see)(uint64_t, CommandId));
  absl::Status LaunchGraph(const Step& step, GraphRun& run);
  // Fails the entry; the place is the stream of graphs. No command from `end`
  // on was launched; invalid: any may have been.
  void FailGraphs(const absl::Status& status, CommandId end = {});
  // Fails the entry with the error that streams had when they were waited for.
  void FailStreams(const Step& step, const absl::Status& status,
                   absl::Span<StreamReplay* const> failed);
  void FinishStreams(const Step& step);
  absl::Status FinishGraphs();
  // Attaches the calling thread to `stream`, or to none, if it is null.
  void Attach(DeviceStream* stream);

  EntryState& state_;
  const std::vector<StreamReplay*> streams_;
  std::vector<Batch> batches_;  // the whole step, command by command
  std::string why_no_graphs_;
  std::unique_ptr<DeviceStream> graph_stream_;  // null: no graphs
  std::vector<Section> sections_;               // the whole step, with graphs
  DeviceStream* attached_ = nullptr;
  int before_attached_ = 0;
  StepCounter prepared_;
  absl::Status prepare_status_;
  std::thread thread_;
};

// The launchers of an entry's streams. That of the first stream is the first.
std::vector<std::unique_ptr<Launcher>> NewLaunchers(
    EntryState& state,
    const std::vector<std::unique_ptr<StreamReplay>>& streams);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_LAUNCHER_H_
