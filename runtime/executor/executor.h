// Replays a plan: allocates memory and binds kernels at load, decides nothing
// afterwards.
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
#include "runtime/executor/executor_options.h"

namespace partita {

// One session of a plan: arenas, streams, events, bound kernels. The plan must
// have passed the checker.
//
// If a step without variable updates fails, the next step may run. If a step
// with updates fails, its variables are undefined: the executor is then
// *failed*, and every call except Restore returns an error.
//
// Thread safety: one call at a time. A concurrent call does not wait: it
// returns FailedPrecondition. Several executors of one plan may run in
// parallel.
class Executor {
 public:
  // `devices` are the plan's, by index. `libraries` outlive the executor.
  static absl::StatusOr<std::unique_ptr<Executor>> New(
      std::shared_ptr<const Plan> plan, Devices devices,
      KernelLibraries libraries, const ExecutorOptions& options = {});

  // Runs one step of entry `entry` from start to end.
  absl::Status Run(int entry, const StepPorts& ports,
                   const RunOptions& options = {});

  // For overlapping steps (Entry::depth): starts a step and returns its number.
  // All steps in flight belong to one entry.
  absl::StatusOr<uint64_t> Submit(int entry, const StepPorts& ports,
                                  const RunOptions& options = {});
  // Waits for the oldest step in flight.
  absl::Status Wait(uint64_t step);

  // Sets variables to their initial values; a failed executor works again.
  absl::Status Restore();
  // The value of a variable, in the layout of the plan.
  absl::StatusOr<HostTensor> ReadVariable(absl::string_view name);
  absl::StatusOr<std::vector<HostTensor>> ReadReplicas(absl::string_view name);
  absl::Status WriteVariable(absl::string_view name, const HostTensor& value);

  const Plan& plan() const { return *plan_; }
  const KernelLibraries& libraries() const { return libraries_; }
  const Devices& devices() const { return devices_; }
  // By device. The driver's error if it does not report its figures.
  absl::StatusOr<std::vector<DeviceMemory>> MemoryUse() const;
  absl::StatusOr<std::vector<MemorySnapshot>> Snapshot() const;
  // Of all entries; each pair of planned and bound kernel once.
  std::vector<ReplacedKernel> ReplacedKernels() const;
  // By entry; only those with devices that run behind the host.
  std::vector<StepLaunches> Launches() const;
  // What runs an entry; for proofs of its graphs.
  const EntryRunner& runner(int entry) const { return *runners_[entry]; }
  // Where the last failed step failed.
  const std::optional<FailedCommand>& last_failure() const {
    return last_failure_;
  }
  // The commands of the last step with RunOptions::trace that was waited for,
  // in launch order.
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
