// Runs the steps of one entry of a plan, up to its depth in flight.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_ENTRY_RUNNER_H_
#define PARTITA_RUNTIME_EXECUTOR_ENTRY_RUNNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/executor/communicators.h"
#include "runtime/executor/executor_options.h"
#include "runtime/executor/launcher.h"
#include "runtime/executor/run_options.h"
#include "runtime/executor/session_report.h"
#include "runtime/executor/stream_replay.h"

namespace partita {

// The caller's buffers of a step: row-major bytes by port. They stay valid and
// unchanged from Submit to the end of Wait.
struct StepPorts {
  absl::Span<const void* const> inputs;
  absl::Span<void* const> outputs;
};

// Page-locked memory of one stream, of one rank of a group, or of the graphs
// of one run of commands.
struct StagingUse {
  const Device* device = nullptr;
  int64_t bytes = 0;  // Arena::ReservedBytes
  int copies = 1;     // in these bytes: one for each step in flight
  // "input x"; "collectives of group 0"; "copies between devices".
  std::vector<std::string> owners;
};

// Thread safety: one call at a time; the executor ensures it.
class EntryRunner {
 public:
  // Starts the launchers' threads and binds every kernel. All arguments outlive
  // the runner.
  static absl::StatusOr<std::unique_ptr<EntryRunner>> New(
      const Plan& plan, int entry, const Devices& devices,
      const SessionMemory& memory, const KernelLibraries& libraries,
      const ExecutorOptions& options);
  // Stops the steps in flight and waits until they have ended.
  ~EntryRunner();

  // Starts a step and returns its number. If steps do not overlap, Submit runs
  // the first stream's commands before it returns. FailedPrecondition if
  // `depth` steps are in flight, or if a failed step has not been waited for.
  absl::StatusOr<uint64_t> Submit(const StepPorts& ports,
                                  const RunOptions& options);
  // Waits for the oldest step in flight, which must be `step`. After a failure
  // every step that was in flight fails too; when their Wait returns, no
  // command of theirs runs any more.
  absl::Status Wait(uint64_t step);
  int in_flight() const { return static_cast<int>(submitted_ - waited_); }
  // Where the last failure happened.
  const FailedCommand& last_failure() const { return last_failure_; }
  // The commands of a traced step that has been waited for, in launch order;
  // available until `depth` further steps are submitted.
  std::vector<MeasuredCommand> Trace(uint64_t step) const;
  // Each pair of planned and bound kernel once.
  std::vector<ReplacedKernel> ReplacedKernels() const;
  // None if no device runs behind the host.
  std::optional<StepLaunches> Launches() const;
  // The graphs of each step, in launch order; for proofs.
  std::vector<const GraphRun*> Graphs() const;
  const EntryContext& context() const { return state_.context; }

  // The most steps that were in flight at once.
  int most_in_flight() const { return most_in_flight_; }
  // The page-locked memory that feeds, fetches, collectives and copies between
  // devices pass through.
  std::vector<StagingUse> Staging() const;

 private:
  EntryRunner(const Plan& plan, int entry, const Devices& devices,
              const SessionMemory& memory, const KernelLibraries& libraries);
  absl::Status Prepare(const Transports& transports);
  bool MayRunOnCaller() const;
  absl::Status StartLaunchers();
  absl::Status CheckSubmit(const StepPorts& ports) const;
  FailedCommand Straggler() const;
  std::vector<std::string> PortsOf(StreamId stream) const;
  absl::Status EndOfFailedStep();

  const Plan& plan_;
  const Entry& entry_;
  CommandList commands_;
  IdVector<StreamId, std::vector<CommandId>> of_stream_;
  StreamDevices stream_devices_;
  std::vector<std::unique_ptr<DeviceEvent>> events_;
  Communications communications_;
  Communicators communicators_;
  EntryState state_;
  bool on_caller_ = false;  // Submit runs the first stream's commands
  std::vector<std::unique_ptr<StreamReplay>> streams_;  // by StreamId
  std::vector<std::unique_ptr<Launcher>> launchers_;    // that of 0 first
  std::vector<std::optional<std::stop_callback<std::function<void()>>>>
      cancels_;  // by step mod depth
  uint64_t submitted_ = 0;
  uint64_t waited_ = 0;
  int most_in_flight_ = 0;
  FailedCommand last_failure_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_ENTRY_RUNNER_H_
