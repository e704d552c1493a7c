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

// What plays the devices of a plan.
enum class DeviceMode : uint8_t {
  kReal,     // the devices that the plan names; a host without them, or with
             // fewer threads or less memory, is refused
  kVirtual,  // host memory and threads in their place, whatever they are
  kTimed,    // threads that sleep for the predicted times and compute nothing
};

struct LoadOptions {
  DeviceMode devices = DeviceMode::kReal;
  // Run native code that the plan carries. It is a program, which no checker
  // proves: say yes only to plans that you or yours made. Code that this
  // process made runs anyway; other code is built again, or its kernels
  // interpreted, and Session::notice says so.
  bool trust_code = false;
  // Read constants of CPUs where the plan keeps them, instead of copying them
  // into the arena.
  bool constants_in_place = true;
};

// A plan that was read from a file and proved there and then. Nobody else can
// change it, so that no session needs to prove it again.
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
// or if it carries a certificate over another plan.
absl::StatusOr<ProvedPlan> LoadPlan(const std::string& path);

// One use of a plan, with arenas, streams and variables of its own.
//
//   auto session = Session::Load("mlp.plan");
//   if (!session.ok()) return session.status();
//   (*session)->SetInput("x", HostTensor::Of<float>({1, 3}, {1, 2, 3}));
//   if (absl::Status run = (*session)->Run(); !run.ok()) return run;
//   const HostTensor* y = *(*session)->GetOutput("y");
//
// Calls are about one entry: the plan's first, until UseEntry names another.
// A step that fails after it may have changed variables leaves the session
// *failed*: every call but Restore says so.
//
// Thread safety: one call at a time; a Run that comes while another is at work
// is refused, not made to wait. Sessions run in parallel with each other.
class Session {
 public:
  // LoadPlan and Create in one: the plan is proved once.
  static absl::StatusOr<std::unique_ptr<Session>> Load(
      const std::string& path, const LoadOptions& options = {});
  static absl::StatusOr<std::unique_ptr<Session>> Create(
      const ProvedPlan& plan, const LoadOptions& options = {});
  // Of a plan in memory, as Compile makes it or ParsePlan reads it. Proves it,
  // whoever made it; it stays unchanged from then on.
  static absl::StatusOr<std::unique_ptr<Session>> Create(
      std::shared_ptr<const Plan> plan, const LoadOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  absl::Status UseEntry(absl::string_view name);
  // Of the entry in use, in the order of the indices below.
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
  // Of the last step; good until the next. What BindOutput bound is not here.
  absl::StatusOr<const HostTensor*> GetOutput(absl::string_view name) const;
  absl::StatusOr<const HostTensor*> GetOutput(int output) const;

  // For pipelines of up to depth() steps: starts a step over the caller's own
  // bytes and returns its number; Wait ends the oldest one. The bytes are left
  // alone until then.
  int depth() const;
  absl::StatusOr<uint64_t> Submit(absl::Span<const void* const> inputs,
                                  absl::Span<void* const> outputs,
                                  const RunOptions& options = {});
  absl::Status Wait(uint64_t step);

  // What the outputs of the next step, and then the variables that it updates,
  // in the order of the graph's updates, must be, bit for bit: the placed graph
  // computed one instance at a time from the inputs set and the variables'
  // present values. The session's state stays as it is.
  absl::StatusOr<std::vector<HostTensor>> RunReference();

  // Variables take their first values again, and a failed session works again.
  absl::Status Restore();
  absl::StatusOr<HostTensor> ReadVariable(absl::string_view name);
  // What each device that has the variable whole holds of it, in the plan's
  // order: data-parallel training keeps them the same, bit for bit. One value
  // for a variable that is divided.
  absl::StatusOr<std::vector<HostTensor>> ReadReplicas(absl::string_view name);
  absl::Status WriteVariable(absl::string_view name, const HostTensor& value);

  const Plan& plan() const;
  // One line if generated kernels do not run as the plan's own code, or those
  // of GPUs that are played as no code at all; else empty.
  const std::string& notice() const { return notice_; }
  // Index into Plan::entries of the entry in use.
  int entry() const { return entry_; }
  // Of all entries; empty if every kernel is the one that the plan names, in
  // the arithmetic that it names. RunReference computes with what was bound.
  std::vector<ReplacedKernel> ReplacedKernels() const;
  // By device.
  std::vector<DeviceMemory> MemoryUse() const;
  // Of the last step that ran with RunOptions::trace, in launch order.
  std::vector<MeasuredCommand> LastTrace() const;
  // That trace in Chrome trace format, for any viewer of the field.
  absl::StatusOr<std::string> LastTraceJson() const;
  // Of the last step that failed; null if none has.
  const FailedCommand* last_failure() const;

 private:
  struct EntryTensors;
  explicit Session(const LoadOptions& options);
  static absl::StatusOr<std::unique_ptr<Session>> CreateProved(
      std::shared_ptr<const Plan> plan, const LoadOptions& options);
  absl::Status CheckInputsSet() const;
  EntryTensors& tensors();

  const LoadOptions options_;
  std::string notice_;
  std::unique_ptr<Executor> executor_;
  std::vector<std::unique_ptr<EntryTensors>> tensors_;  // by entry
  int entry_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_SESSION_H_
