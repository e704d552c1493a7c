// Runs plans: load one, give it inputs, run it, read the outputs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_SESSION_H_
#define PARTITA_PARTITA_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/host_tensor.h"
#include "runtime/executor/run_options.h"
#include "runtime/executor/session_report.h"

namespace partita {

struct Plan;
class Executor;

// What runs the devices of a plan.
enum class DeviceMode : uint8_t {
  // the devices that the plan names; a host without them, or with fewer threads
  // or less memory, is refused
  kReal,
  kVirtual,  // host memory and threads emulate them, whatever they are
  kTimed,    // threads that sleep for the predicted times and compute nothing
};

struct LoadOptions {
  DeviceMode devices = DeviceMode::kReal;
  // Run native code from the plan file. No checker proves this code: set it
  // only for plans that you trust. Code that this process built runs anyway;
  // other code is built again, or its kernels are interpreted, and
  // Session::notice says so.
  bool trust_code = false;
  // Read constants of CPUs from the mapped plan, instead of copying them into
  // the arena.
  bool constants_in_place = true;
  // So many devices of the plan share each GPU: gpu:0 to gpu:3 are the first
  // GPU, if 4. Each has a part of the bytes that are free. For
  // DeviceMode::kReal.
  int split_gpu = 1;
};

// A plan that was read from a file and proved. It is immutable, so sessions
// need not prove it again.
class ProvedPlan {
 public:
  const Plan& operator*() const { return *plan_; }
  const Plan* operator->() const { return plan_.get(); }

 private:
  friend absl::StatusOr<ProvedPlan> LoadPlan(const std::string& path);
  friend class Session;
  explicit ProvedPlan(std::shared_ptr<const Plan> plan)
      : plan_(std::move(plan)) {}

  std::shared_ptr<const Plan> plan_;
};

// Reads a plan file and proves the plan; sessions of one plan share its
// constants. InvalidArgument with the checker's findings if it is not proved,
// or if it has a certificate of another plan.
absl::StatusOr<ProvedPlan> LoadPlan(const std::string& path);

// One use of a plan, with arenas, streams and variables of its own. With
// PARTITA_LAUNCH_BLOCKING=1 in the environment, the commands of its GPUs are
// issued one by one and waited for, so that an error names its command.
//
//   auto session = Session::Load("mlp.plan");
//   if (!session.ok()) return session.status();
//   (*session)->SetInput("x", HostTensor::Of<float>({1, 3}, {1, 2, 3}));
//   if (absl::Status run = (*session)->Run(); !run.ok()) return run;
//   const HostTensor* y = *(*session)->GetOutput("y");
//
// Calls refer to one entry: the plan's first, until UseEntry names another. If
// a step fails after it may have changed variables, the session has *failed*:
// every call except Restore returns that error.
//
// Thread safety: one call at a time; a Run during another one is refused, not
// delayed. Sessions run in parallel with each other.
class Session {
 public:
  // LoadPlan and Create in one: the plan is proved once.
  static absl::StatusOr<std::unique_ptr<Session>> Load(
      const std::string& path, const LoadOptions& options = {});
  static absl::StatusOr<std::unique_ptr<Session>> Create(
      const ProvedPlan& plan, const LoadOptions& options = {});
  // For a plan in memory, from Compile or ParsePlan. Proves it. It must not
  // change afterwards.
  static absl::StatusOr<std::unique_ptr<Session>> Create(
      std::shared_ptr<const Plan> plan, const LoadOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  absl::Status UseEntry(absl::string_view name);
  // Of the entry in use; indices below are in this order.
  int num_inputs() const;
  int num_outputs() const;
  const std::string& input_name(int input) const;
  const std::string& output_name(int output) const;
  const TensorType& input_type(int input) const;
  const TensorType& output_type(int output) const;

  // Copies the tensor; it is the input of every step until it is set again.
  absl::Status SetInput(absl::string_view name, const HostTensor& value);
  absl::Status SetInput(int input, const HostTensor& value);
  // Reads the input from, or writes the output to, the caller's own row-major
  // bytes, without a copy. They must outlive the steps.
  absl::Status BindInput(int input, const void* bytes);
  absl::Status BindOutput(int output, void* bytes);

  absl::Status Run(const RunOptions& options = {});
  // From the last step; valid until the next. Not for outputs of BindOutput.
  absl::StatusOr<const HostTensor*> GetOutput(absl::string_view name) const;
  absl::StatusOr<const HostTensor*> GetOutput(int output) const;

  // For pipelines of up to depth() steps: starts a step over the caller's own
  // bytes and returns its number; Wait ends the oldest one. The bytes must not
  // change until then.
  int depth() const;
  absl::StatusOr<uint64_t> Submit(absl::Span<const void* const> inputs,
                                  absl::Span<void* const> outputs,
                                  const RunOptions& options = {});
  absl::Status Wait(uint64_t step);

  // The expected outputs of the next step, followed by the variables that it
  // updates, in the order of the graph's updates, bit for bit: the bound graph
  // computed one instance at a time from the present inputs and variables. Does
  // not change the session.
  absl::StatusOr<std::vector<HostTensor>> RunReference();

  // Resets variables to their initial values; a failed session works again.
  absl::Status Restore();
  absl::StatusOr<HostTensor> ReadVariable(absl::string_view name);
  // The variable on each device that has it whole, in the plan's order: data
  // parallelism keeps them equal, bit for bit. One value for a sharded
  // variable.
  absl::StatusOr<std::vector<HostTensor>> ReadReplicas(absl::string_view name);
  absl::Status WriteVariable(absl::string_view name, const HostTensor& value);

  const Plan& plan() const;
  // One line if generated kernels do not run as the plan's own code, or those
  // of emulated GPUs without code; else empty.
  const std::string& notice() const { return notice_; }
  // Index into Plan::entries of the entry in use.
  int entry() const { return entry_; }
  // For all entries; empty if every kernel is the plan's, with the plan's
  // arithmetic. RunReference uses the bound kernels.
  std::vector<ReplacedKernel> ReplacedKernels() const;
  // How steps are launched on GPUs, by entry; empty without GPUs.
  std::vector<StepLaunches> Launches() const;
  // By device; the figures are of now, so do not call it beside another call.
  // Unavailable or Internal if a driver does not report its figures.
  absl::StatusOr<std::vector<DeviceMemory>> MemoryUse() const;
  // The same, and each block with its owners.
  absl::StatusOr<std::vector<MemorySnapshot>> SnapshotMemory() const;
  // Of the last step that ran with RunOptions::trace, in launch order.
  std::vector<MeasuredCommand> LastTrace() const;
  // That trace in Chrome's format.
  absl::StatusOr<std::string> LastTraceJson() const;
  // Of the last step that failed; null if none has.
  const FailedCommand* last_failure() const;

 private:
  struct EntryTensors;
  Session();
  static absl::StatusOr<std::unique_ptr<Session>> CreateProved(
      std::shared_ptr<const Plan> plan, const LoadOptions& options);
  absl::Status CheckInputsSet() const;
  EntryTensors& tensors();

  std::string notice_;
  std::unique_ptr<Executor> executor_;
  std::vector<std::unique_ptr<EntryTensors>> tensors_;  // by entry
  int entry_ = 0;
  bool emulates_ = false;  // the host emulates some of the devices
};

}  // namespace partita

#endif  // PARTITA_PARTITA_SESSION_H_
