// One stream of an entry: its bound kernels, and its program, which a launcher
// replays step after step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STREAM_REPLAY_H_
#define PARTITA_RUNTIME_EXECUTOR_STREAM_REPLAY_H_

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/executor/action_performer.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/kernel_binder.h"
#include "runtime/executor/stream_kernels.h"
#include "runtime/executor/stream_program.h"

namespace partita {

struct MeasuredTime {
  SteadyTime start;
  SteadyTime end;
};

// Thread safety: one thread feeds the stream (launcher.h); the entry's owner
// calls the readers.
class StreamReplay {
 public:
  static absl::StatusOr<std::unique_ptr<StreamReplay>> New(EntryState& state,
                                                           StreamId id);

  // The device that runs the stream. It has the memory of staging().
  Device& device() const { return device_; }
  // What runs the stream: the thread that feeds it attaches to it.
  DeviceStream& device_stream() const { return *stream_; }
  // Binds kernels and builds programs.
  absl::Status Prepare();

  // The actions of each step, once prepared.
  const std::vector<Action>& actions() const { return programs_[0]->actions; }
  // Performs actions [begin, end), unless the entry has failed.
  void Run(Step& step, size_t begin, size_t end);
  // Performs one phase of a collective, unless the entry has failed. All phases
  // are called in order.
  void RunPhase(Step& step, size_t index, CollectivePhase phase);
  // If launches block (ExecutorOptions), waits for what this action issued,
  // unless the entry has failed.
  void WaitIfBlocking(size_t index);
  // Fails the entry at an action.
  void FailAt(size_t index, const absl::Status& status);
  // Waits for all that was issued to the stream. The error of its device, which
  // any of that may have made.
  absl::Status Finish();
  // True if launches block (ExecutorOptions): each action was waited for.
  bool IsBlocking() const;
  // The command of an action, for messages.
  FailedCommand Describe(size_t index) const;
  // Delivers what was fetched, and raises finished(). All work of the step is
  // done.
  void EndStep(Step& step);

  // For graphs of actions: the program of a slot, where a trace has the time of
  // an action, and what the host does for a feed.
  const StreamProgram& program(int slot) const { return *programs_[slot]; }
  MeasuredTime& time(int slot, size_t index) { return times_[slot][index]; }
  void StageFeed(const Step& step, size_t index);

  const Stream& stream() const;
  bool runs_behind_host() const {
    return device_.properties().runs_behind_host;
  }
  // Page-locked memory for the stream's feeds and fetches, of all slots, once
  // prepared; null if there is none. In memory of `device()`.
  const Arena* staging() const { return staging_.get(); }
  // Replacements among this stream's kernels, once prepared.
  const std::vector<ReplacedKernel>& replaced_kernels() const {
    return kernels_.replaced();
  }
  // The command that this stream runs now, in a step with a deadline; invalid:
  // none.
  CommandId at() const { return at_.load(std::memory_order_relaxed); }
  // Raised to t + 1 when this stream has ended step t.
  StepCounter& finished() { return finished_; }
  // Adds the times of this stream's commands in the last traced step in `slot`.
  void AppendTrace(int slot, IdVector<CommandId, MeasuredTime>& times) const;

 private:
  StreamReplay(EntryState& state, StreamId id, Device& device,
               std::unique_ptr<DeviceStream> stream);
  StreamProgram& ProgramOf(const Step& step) {
    return *programs_[step.number % programs_.size()];
  }
  bool IsObserved(const Step& step, const StreamProgram& program) const;
  template <bool kObserved>
  void Replay(Step& step, StreamProgram& program, size_t begin, size_t end);
  absl::Status BeforeAction(const Step& step, const StreamProgram& program,
                            size_t index);
  void AfterAction(const Step& step, const StreamProgram& program,
                   size_t index);

  EntryState& state_;
  const StreamId id_;
  Device& device_;
  std::unique_ptr<DeviceStream> stream_;
  bool in_collective_ = false;  // RunPhase has begun one
  StreamKernels kernels_;
  ActionPerformer performer_;
  // Of feeds and fetches, for each slot; null if the host accesses the arena.
  std::unique_ptr<Arena> staging_;
  std::vector<std::unique_ptr<StreamProgram>> programs_;  // by slot
  std::vector<std::vector<MeasuredTime>> times_;          // by slot and action
  std::atomic<CommandId> at_{CommandId()};
  StepCounter finished_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STREAM_REPLAY_H_
