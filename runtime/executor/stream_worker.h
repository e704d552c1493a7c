// One stream of an entry at work: binds its kernels, then replays its program
// step after step, on a thread of its own or on the caller's.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STREAM_WORKER_H_
#define PARTITA_RUNTIME_EXECUTOR_STREAM_WORKER_H_

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/executor/failure.h"
#include "runtime/executor/kernel_binder.h"
#include "runtime/executor/stream_program.h"

namespace partita {

// One step in flight, as all its streams see it.
struct Step {
  uint64_t number = 0;
  std::vector<const void*> inputs;  // the caller's bytes, by port
  std::vector<void*> outputs;
  SteadyTime deadline = SteadyTime::max();
  bool trace = false;
  std::optional<uint64_t> chaos_seed;
};

struct MeasuredTime {
  SteadyTime start;
  SteadyTime end;
};

// What the workers of one entry share.
struct EntryState {
  EntryContext context;
  const KernelLibraries* libraries = nullptr;
  bool trust_code = false;  // generated kernels may use the plan's images
  std::vector<Step> steps;  // by step mod depth
  StepCounter submitted;
  std::atomic<bool> closing{false};
  FailureLatch failure;
  int spins = 0;

  // Keeps `status` if it is the first, and wakes every wait of every stream.
  void Fail(const absl::Status& status, FailedCommand where);
};

// Thread safety: Start, RunInline and the readers are for the entry's owner.
class StreamWorker {
 public:
  StreamWorker(EntryState& state, StreamId stream);
  ~StreamWorker();

  // Binds kernels and builds programs on the calling thread, whose job
  // RunInline becomes.
  absl::Status PrepareInline();
  // Starts the thread, which binds, builds and then waits for steps.
  void Start();
  // What the thread's binding came to; waits for it.
  absl::Status WaitUntilPrepared();

  void RunInline(Step& step);

  // Of this stream's kernel commands, once prepared.
  const std::vector<ReplacedKernel>& replaced_kernels() const {
    return replaced_;
  }

  // The command that this stream is at, of a step with a deadline; -1: none.
  int at() const { return at_.load(std::memory_order_relaxed); }
  // Raised to t + 1 when this stream has ended step t.
  StepCounter& finished() { return finished_; }
  // Of the commands of this stream in the last traced step that used `slot`.
  void AppendTrace(int slot, std::vector<MeasuredTime>& by_command) const;

 private:
  absl::Status Prepare();
  absl::Status BindKernels();
  absl::StatusOr<BoundCommand> Bind(const Command& command);
  // What the command computes: its node, or one member's piece of it.
  absl::StatusOr<OpView> NodeOf(const Command& command);
  absl::StatusOr<void*> OutsideScratch(int64_t bytes);
  void Loop();
  void RunStep(Step& step);
  template <bool kObserved>
  void Replay(Step& step, StreamProgram& program);
  absl::Status Perform(const Step& step, const StreamProgram& program,
                       const Action& action);
  absl::Status PerformWait(const Step& step, const Action& action);
  absl::Status PerformCollective(const Step& step, const Action& action,
                                 const Exchange& exchange);
  absl::Status PerformSend(const Step& step, const StreamProgram& program,
                           const Action& action);
  absl::Status PerformRecv(const Step& step, const StreamProgram& program,
                           const Action& action);
  WaitPolicy PolicyOf(const Step& step) const;
  absl::Status EndOfWait();
  absl::Status Move(const StreamProgram& program, const Action& action);
  void Sleep(std::chrono::nanoseconds duration);
  absl::Status BeforeAction(const Step& step, const StreamProgram& program,
                            size_t index);
  void AfterAction(const Step& step, const StreamProgram& program,
                   size_t index);
  void FailAt(const Action& action, const absl::Status& status);

  EntryState& state_;
  const StreamId id_;
  Device& device_;
  std::unique_ptr<DeviceStream> stream_;
  std::vector<std::unique_ptr<Graph>> pieces_;  // of cut nodes
  std::vector<std::unique_ptr<BoundKernel>> kernels_;
  std::vector<std::unique_ptr<Arena>> scratch_;
  std::vector<ReplacedKernel> replaced_;
  std::vector<BoundCommand> bound_;  // by command; only while preparing
  std::vector<std::unique_ptr<StreamProgram>> programs_;  // by slot
  std::vector<std::vector<MeasuredTime>> times_;          // by slot and action
  std::atomic<int> at_{-1};
  StepCounter finished_;
  StepCounter prepared_;
  absl::Status prepare_status_;
  SteadyTime slept_until_;
  std::thread thread_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STREAM_WORKER_H_
