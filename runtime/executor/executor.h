// Replays a plan: allocates and binds at load, decides nothing afterwards.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_EXECUTOR_H_
#define PARTITA_RUNTIME_EXECUTOR_EXECUTOR_H_

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"
#include "runtime/executor/entry_runner.h"

namespace partita {

struct ExecutorOptions {
  // Read constants of host devices where the plan keeps them, so that weights
  // are in memory once.
  bool constants_in_place = true;
  // Hand the plan's native code to the kernels that ask for it.
  bool trust_code = false;
  // Sees every command of every step, if set; outlives the executor.
  CommandObserver* observer = nullptr;
};

// One session of a plan: arenas, streams, events, bound kernels. A plan that
// has not passed the checker must not come here.
//
// A step of an entry without variable updates that fails leaves the executor
// fit for the next step. One that updates variables leaves them undefined: the
// executor is then *failed*, and every call but Restore says so.
//
// Thread safety: one call at a time; a second that comes while one is at work
// is refused with FailedPrecondition, not made to wait. Several executors of
// one plan may run in parallel.
class Executor {
 public:
  // `devices` are the plan's, by index; `libraries` outlive the executor.
  static absl::StatusOr<std::unique_ptr<Executor>> New(
      std::shared_ptr<const Plan> plan, Devices devices,
      KernelLibraries libraries, const ExecutorOptions& options = {});

  // One step of entry `entry`, from start to end.
  absl::Status Run(int entry, const StepPorts& ports,
                   const RunOptions& options = {});

  // For pipelines of steps (Entry::depth): starts one and returns its number.
  // Steps in flight are all of one entry.
  absl::StatusOr<uint64_t> Submit(int entry, const StepPorts& ports,
                                  const RunOptions& options = {});
  // Waits for the oldest step in flight.
  absl::Status Wait(uint64_t step);

  // Variables take their first values again; a failed executor works again.
  absl::Status Restore();
  // The present value of a variable, in the layout that the plan keeps it in.
  absl::StatusOr<HostTensor> ReadVariable(absl::string_view name);
  absl::StatusOr<std::vector<HostTensor>> ReadReplicas(absl::string_view name);
  absl::Status WriteVariable(absl::string_view name, const HostTensor& value);

  const Plan& plan() const { return *plan_; }
  std::vector<DeviceMemory> MemoryUse() const { return memory_->Use(); }
  // Of all entries, each pair of kernels once.
  std::vector<ReplacedKernel> ReplacedKernels() const;
  // Of the last step that failed.
  const std::optional<FailedCommand>& last_failure() const {
    return last_failure_;
  }
  // Of the last step that was waited for with RunOptions::trace, in launch
  // order.
  std::vector<MeasuredCommand> LastTrace() const;

 private:
  Executor(std::shared_ptr<const Plan> plan, Devices devices,
           KernelLibraries libraries);
  absl::StatusOr<uint64_t> SubmitStep(int entry, const StepPorts& ports,
                                      const RunOptions& options);
  absl::Status WaitForStep(uint64_t step);
  absl::Status CheckIdle() const;

  std::shared_ptr<const Plan> plan_;
  Devices devices_;
  KernelLibraries libraries_;
  std::unique_ptr<SessionMemory> memory_;
  std::vector<std::unique_ptr<EntryRunner>> runners_;  // by entry
  std::atomic<bool> busy_{false};
  int active_ = -1;  // the entry whose steps are or were last in flight
  uint64_t last_waited_ = 0;
  absl::Status failed_;
  std::optional<FailedCommand> last_failure_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_EXECUTOR_H_
