// Runs one stream of an entry: binds its kernels, then replays its program step
// after step, on its own thread or on the caller's.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STREAM_WORKER_H_
#define PARTITA_RUNTIME_EXECUTOR_STREAM_WORKER_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
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

// Thread safety: the entry's owner calls Start, RunInline and the readers.
class StreamWorker {
 public:
  StreamWorker(EntryState& state, StreamId stream);
  ~StreamWorker();

  // Binds kernels and builds programs on the calling thread, which later calls
  // RunInline.
  absl::Status PrepareInline();
  // Starts the thread, which binds kernels, builds programs and then waits for
  // steps. Throws std::system_error if the thread cannot be started.
  void Start();
  // Waits until the thread has bound its kernels, and returns the status.
  absl::Status WaitUntilPrepared();

  void RunInline(Step& step);

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
  void PrepareAndLoop();
  absl::Status Prepare();
  void Loop();
  void RunStep(Step& step);
  template <bool kObserved>
  void Replay(Step& step, StreamProgram& program);
  absl::Status BeforeAction(const Step& step, const StreamProgram& program,
                            size_t index);
  void AfterAction(const Step& step, const StreamProgram& program,
                   size_t index);
  void FailAt(const Action& action, const absl::Status& status);

  EntryState& state_;
  const StreamId id_;
  Device& device_;
  std::unique_ptr<DeviceStream> stream_;
  StreamKernels kernels_;
  ActionPerformer performer_;
  std::vector<std::unique_ptr<StreamProgram>> programs_;  // by slot
  std::vector<std::vector<MeasuredTime>> times_;          // by slot and action
  std::atomic<CommandId> at_{CommandId()};
  StepCounter finished_;
  StepCounter prepared_;
  absl::Status prepare_status_;
  std::thread thread_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STREAM_WORKER_H_
