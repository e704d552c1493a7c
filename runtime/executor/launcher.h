// The thread that feeds streams: it binds their kernels, then replays their
// programs in launch order, step after step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_LAUNCHER_H_
#define PARTITA_RUNTIME_EXECUTOR_LAUNCHER_H_

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/stream_replay.h"

namespace partita {

// A stream of the host has a launcher of its own, as its commands run on the
// launcher's thread. All streams of an entry that run behind the host have one
// launcher, which issues their commands in launch order: whatever a command
// waits for on the host was issued before, and a device sees one order.
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

  void PrepareAndLoop();
  absl::Status Prepare();
  std::vector<Segment> ActionsInLaunchOrder() const;
  // The collective of the segment's action, or null. No other action is in such
  // a segment.
  const Communication* CollectiveAt(const Segment& segment) const;
  void Append(const Segment& action);
  void Loop();
  void RunStep(Step& step);
  void RunTogether(Step& step, const Batch& ranks);
  // Attaches the calling thread to `stream`, or to none, if it is null.
  void Attach(StreamReplay* stream);

  EntryState& state_;
  const std::vector<StreamReplay*> streams_;
  std::vector<Batch> batches_;
  StreamReplay* attached_ = nullptr;
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
