// Loading, proving and running plans.
// SPDX-License-Identifier: Apache-2.0

#include "partita/session.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/device_kind_traits.h"
#include "graph/gpu_split.h"
#include "graph/host_capacity.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "partita/backends/backend.h"
#include "partita/generated_code.h"
#include "partita/port_lookup.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/measured_timeline.h"
#include "runtime/executor/reference_run.h"
#include "runtime/plan/checker/contract.h"
#include "runtime/plan/checker/prove_plan.h"
#include "runtime/plan/chrome_trace.h"
#include "runtime/plan/plan_file.h"

namespace partita {
namespace {

const Backend& BackendFor(DeviceKind kind, DeviceMode mode) {
  if (mode == DeviceMode::kVirtual) return VirtualBackend();
  if (mode == DeviceMode::kTimed) return TimedBackend();
  return BackendOf(kind);
}

// What runs the devices of a plan, by device.
using PlanBackends = std::vector<const Backend*>;

absl::StatusOr<PlanBackends> BackendsOf(const Plan& plan, DeviceMode mode) {
  if (mode == DeviceMode::kReal) {
    PARTITA_RETURN_IF_ERROR(CheckContract(plan, ThisHost(), RunnableKinds()));
  }
  PlanBackends backends;
  for (const PlanDevice& device : plan.devices) {
    backends.push_back(&BackendFor(device.traits.kind, mode));
  }
  return backends;
}

// As the contract says of a kind that the build does not run.
absl::Status NotOnThisHost(const Plan& plan, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("plan @", plan.name,
                   " is for another machine than this host; let this host "
                   "emulate its devices (--virtual), or compile the model for "
                   "this host\n  ",
                   absl::StripPrefix(status.message(), "device ")));
}

absl::StatusOr<GpuSplit> SplitOf(const LoadOptions& options) {
  if (options.split_gpu >= 1 && options.split_gpu <= GpuSplit::kMostShares) {
    return GpuSplit{options.split_gpu};
  }
  return OfOption("split-gpu", absl::InvalidArgumentError(absl::StrCat(
                                   "split-gpu: found ", options.split_gpu,
                                   "; expected 1..", GpuSplit::kMostShares)));
}

absl::StatusOr<Devices> NewDevices(const Plan& plan,
                                   const PlanBackends& backends,
                                   GpuSplit split) {
  Devices devices;
  for (size_t d = 0; d < backends.size(); ++d) {
    absl::StatusOr<std::unique_ptr<Device>> device =
        backends[d]->new_device(plan.devices[d].traits, split);
    if (absl::IsUnavailable(device.status())) {
      return NotOnThisHost(plan, device.status());
    }
    PARTITA_RETURN_IF_ERROR(device.status());
    devices.push_back(*std::move(device));
  }
  return devices;
}

// Each library once.
KernelLibraries LibrariesOf(const PlanBackends& backends) {
  KernelLibraries all;
  for (const Backend* backend : backends) {
    if (backend->libraries == nullptr) continue;
    for (const KernelLibrary* library : backend->libraries()) {
      if (!absl::c_linear_search(all, library)) all.push_back(library);
    }
  }
  return all;
}

// An emulator runs the code of CPUs; that of other devices it replaces
// (PrepareEmulatedCode).
CodeLoaders CodeLoadersOf(const Plan& plan, const PlanBackends& backends) {
  CodeLoaders loaders;
  for (size_t d = 0; d < backends.size(); ++d) {
    const bool loads =
        backends[d]->kind.has_value() || RunsHostCode(plan.devices[d].traits);
    loaders.push_back(loads ? backends[d]->code_loader : nullptr);
  }
  return loaders;
}

Transports TransportsOf(const PlanBackends& backends) {
  Transports transports;
  for (const Backend* backend : backends) {
    transports.push_back(backend->new_communicator);
  }
  return transports;
}

bool IsAnyComputedBy(ComputedBy computed_by, const Devices& devices) {
  return absl::c_any_of(devices, [&](const std::unique_ptr<Device>& device) {
    return device->properties().computed_by == computed_by;
  });
}

// Provides the code of generated kernels that run on the devices. Returns what
// the user should know about it.
absl::StatusOr<std::string> PrepareCode(const Plan& plan,
                                        const PlanBackends& backends,
                                        const Devices& devices,
                                        bool trust_code) {
  std::vector<std::string> notices(1);
  PARTITA_ASSIGN_OR_RETURN(
      notices[0],
      PrepareGeneratedCode(plan, CodeLoadersOf(plan, backends), trust_code));
  if (IsAnyComputedBy(ComputedBy::kHostKernels, devices)) {
    PARTITA_ASSIGN_OR_RETURN(notices.emplace_back(), PrepareEmulatedCode(plan));
  }
  notices.erase(std::remove(notices.begin(), notices.end(), ""), notices.end());
  return absl::StrJoin(notices, "; ");
}

// What the user's variable says.
absl::StatusOr<bool> LaunchesBlock() {
  const char* const variable = std::getenv(kLaunchBlockingVariable);
  const absl::string_view value = variable == nullptr ? "" : variable;
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  return absl::InvalidArgumentError(
      absl::StrCat(kLaunchBlockingVariable, ": found ", value,
                   "; expected 0 or 1; set it to one of them, or unset it"));
}

}  // namespace

// The session's tensors for an entry's ports. A pointer is null until an input
// is set; an output without a tensor is the caller's.
struct Session::EntryTensors {
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
  std::vector<const void*> input_bytes;
  std::vector<void*> output_bytes;
};

absl::StatusOr<ProvedPlan> LoadPlan(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(Plan plan, ReadPlan(path));
  PARTITA_RETURN_IF_ERROR(ProvePlan(plan).status());
  return ProvedPlan(std::make_shared<const Plan>(std::move(plan)));
}

absl::StatusOr<std::unique_ptr<Session>> Session::Load(
    const std::string& path, const LoadOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const ProvedPlan plan, LoadPlan(path));
  return Create(plan, options);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(
    const ProvedPlan& plan, const LoadOptions& options) {
  return CreateProved(plan.plan_, options);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(
    std::shared_ptr<const Plan> plan, const LoadOptions& options) {
  PARTITA_RETURN_IF_ERROR(ProvePlan(*plan).status());
  return CreateProved(std::move(plan), options);
}

absl::StatusOr<std::unique_ptr<Session>> Session::CreateProved(
    std::shared_ptr<const Plan> plan, const LoadOptions& options) {
  if (plan->entries.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "plan @", plan->name,
        ": found no entry; expected one or more; compile the model again"));
  }
  PARTITA_ASSIGN_OR_RETURN(const bool launch_blocking, LaunchesBlock());
  PARTITA_ASSIGN_OR_RETURN(const PlanBackends backends,
                           BackendsOf(*plan, options.devices));
  PARTITA_ASSIGN_OR_RETURN(const GpuSplit split, SplitOf(options));
  PARTITA_ASSIGN_OR_RETURN(Devices devices, NewDevices(*plan, backends, split));
  std::unique_ptr<Session> session(new Session);
  PARTITA_ASSIGN_OR_RETURN(
      session->notice_,
      PrepareCode(*plan, backends, devices, options.trust_code));
  if (split.splits()) {
    // Whoever compares times must know.
    absl::StrAppend(&session->notice_, session->notice_.empty() ? "" : "; ",
                    split.shares,
                    " devices share each GPU: times are not those of as many "
                    "GPUs");
  }
  session->emulates_ = IsAnyComputedBy(ComputedBy::kHostKernels, devices) ||
                       IsAnyComputedBy(ComputedBy::kNothing, devices);
  for (const Entry& entry : plan->entries) {
    auto tensors = std::make_unique<EntryTensors>();
    tensors->inputs.resize(entry.inputs.size());
    tensors->input_bytes.resize(entry.inputs.size());
    for (const Port& output : entry.outputs) {
      tensors->outputs.emplace_back(output.type);
      tensors->output_bytes.push_back(tensors->outputs.back().bytes());
    }
    session->tensors_.push_back(std::move(tensors));
  }
  PARTITA_ASSIGN_OR_RETURN(
      session->executor_,
      Executor::New(std::move(plan), std::move(devices), LibrariesOf(backends),
                    {.constants_in_place = options.constants_in_place,
                     .trust_code = options.trust_code,
                     .launch_blocking = launch_blocking,
                     .transports = TransportsOf(backends)}));
  return session;
}

Session::Session() = default;
Session::~Session() = default;

const Plan& Session::plan() const { return executor_->plan(); }
Session::EntryTensors& Session::tensors() { return *tensors_[entry_]; }

absl::Status Session::UseEntry(absl::string_view name) {
  std::vector<std::string> known;
  for (size_t e = 0; e < plan().entries.size(); ++e) {
    if (plan().entries[e].name == name) {
      entry_ = static_cast<int>(e);
      return absl::OkStatus();
    }
    known.push_back(plan().entries[e].name);
  }
  return OfOption(
      "entry",
      absl::NotFoundError(absl::StrCat(
          "entry ", NameText(name), ": found no such entry in plan @",
          plan().name, "; expected one of ", absl::StrJoin(known, ", "))));
}

int Session::num_inputs() const {
  return static_cast<int>(plan().entries[entry_].inputs.size());
}
int Session::num_outputs() const {
  return static_cast<int>(plan().entries[entry_].outputs.size());
}
const std::string& Session::input_name(int input) const {
  return plan().entries[entry_].inputs[input].name;
}
const std::string& Session::output_name(int output) const {
  return plan().entries[entry_].outputs[output].name;
}
const TensorType& Session::input_type(int input) const {
  return plan().entries[entry_].inputs[input].type;
}
const TensorType& Session::output_type(int output) const {
  return plan().entries[entry_].outputs[output].type;
}

absl::Status Session::SetInput(absl::string_view name,
                               const HostTensor& value) {
  PARTITA_ASSIGN_OR_RETURN(
      const size_t input,
      FindPort(plan().entries[entry_].inputs, name, "input"));
  return SetInput(static_cast<int>(input), value);
}

absl::Status Session::SetInput(int input, const HostTensor& value) {
  PARTITA_RETURN_IF_ERROR(CheckIndex(input, tensors().inputs.size(), "input"));
  const TensorType& type = input_type(input);
  if (value.type() != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", NameText(input_name(input)), ": found ",
                     value.type().ToString(), "; expected ", type.ToString()));
  }
  HostTensor& own = tensors().inputs[input];
  if (own.bytes() == nullptr) own = HostTensor(type);
  std::memcpy(own.bytes(), value.bytes(), type.num_bytes());
  tensors().input_bytes[input] = own.bytes();
  return absl::OkStatus();
}

absl::Status Session::BindInput(int input, const void* bytes) {
  PARTITA_RETURN_IF_ERROR(CheckIndex(input, tensors().inputs.size(), "input"));
  tensors().input_bytes[input] = bytes;
  return absl::OkStatus();
}

absl::Status Session::BindOutput(int output, void* bytes) {
  PARTITA_RETURN_IF_ERROR(
      CheckIndex(output, tensors().outputs.size(), "output"));
  tensors().outputs[output] = HostTensor();
  tensors().output_bytes[output] = bytes;
  return absl::OkStatus();
}

absl::Status Session::CheckInputsSet() const {
  const EntryTensors& tensors = *tensors_[entry_];
  for (size_t i = 0; i < tensors.input_bytes.size(); ++i) {
    if (tensors.input_bytes[i] != nullptr) continue;
    if (input_type(static_cast<int>(i)).num_bytes() == 0) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "session: found input `", input_name(static_cast<int>(i)),
        "` without a value; expected one; call SetInput before Run"));
  }
  return absl::OkStatus();
}

absl::Status Session::Run(const RunOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckInputsSet());
  const EntryTensors& own = tensors();
  return executor_->Run(entry_, {own.input_bytes, own.output_bytes}, options);
}

absl::StatusOr<const HostTensor*> Session::GetOutput(
    absl::string_view name) const {
  PARTITA_ASSIGN_OR_RETURN(
      const size_t output,
      FindPort(plan().entries[entry_].outputs, name, "output"));
  return GetOutput(static_cast<int>(output));
}

absl::StatusOr<const HostTensor*> Session::GetOutput(int output) const {
  const EntryTensors& tensors = *tensors_[entry_];
  PARTITA_RETURN_IF_ERROR(CheckIndex(output, tensors.outputs.size(), "output"));
  if (tensors.outputs[output].bytes() != tensors.output_bytes[output]) {
    return absl::FailedPreconditionError(
        absl::StrCat("session: output `", output_name(output),
                     "` was bound to bytes of the caller; read them there"));
  }
  return &tensors.outputs[output];
}

int Session::depth() const { return plan().entries[entry_].depth; }

absl::StatusOr<uint64_t> Session::Submit(absl::Span<const void* const> inputs,
                                         absl::Span<void* const> outputs,
                                         const RunOptions& options) {
  return executor_->Submit(entry_, {inputs, outputs}, options);
}

absl::Status Session::Wait(uint64_t step) { return executor_->Wait(step); }

absl::StatusOr<std::vector<HostTensor>> Session::RunReference() {
  PARTITA_RETURN_IF_ERROR(CheckInputsSet());
  const Graph& graph = *plan().entries[entry_].graph;
  std::vector<std::string> names;
  std::vector<HostTensor> values;
  for (const OpView& node : graph.ops()) {
    if (!node.op().traits.reads_variable) continue;
    names.push_back(node.attr_string("name"));
    PARTITA_ASSIGN_OR_RETURN(HostTensor value,
                             executor_->ReadVariable(names.back()));
    values.push_back(std::move(value));
  }
  ReferenceOptions reference;
  reference.any_host_kernel = emulates_;
  reference.devices = executor_->devices();
  for (size_t i = 0; i < names.size(); ++i) {
    reference.variables[names[i]] = &values[i];
  }
  return ReferenceRun(plan(), entry_, tensors().input_bytes,
                      executor_->libraries(), reference);
}

absl::Status Session::Restore() { return executor_->Restore(); }

absl::StatusOr<HostTensor> Session::ReadVariable(absl::string_view name) {
  return executor_->ReadVariable(name);
}

absl::StatusOr<std::vector<HostTensor>> Session::ReadReplicas(
    absl::string_view name) {
  return executor_->ReadReplicas(name);
}

absl::Status Session::WriteVariable(absl::string_view name,
                                    const HostTensor& value) {
  return executor_->WriteVariable(name, value);
}

std::vector<ReplacedKernel> Session::ReplacedKernels() const {
  return executor_->ReplacedKernels();
}

std::vector<StepLaunches> Session::Launches() const {
  return executor_->Launches();
}

absl::StatusOr<std::vector<DeviceMemory>> Session::MemoryUse() const {
  return executor_->MemoryUse();
}

absl::StatusOr<std::vector<MemorySnapshot>> Session::SnapshotMemory() const {
  return executor_->Snapshot();
}

std::vector<MeasuredCommand> Session::LastTrace() const {
  return executor_->LastTrace();
}

absl::StatusOr<std::string> Session::LastTraceJson() const {
  PARTITA_ASSIGN_OR_RETURN(const Timeline timeline,
                           MeasuredTimeline(plan(), plan().entries[entry_],
                                            executor_->devices(), LastTrace()));
  return ChromeTraceJson({timeline});
}

const FailedCommand* Session::last_failure() const {
  const auto& failure = executor_->last_failure();
  return failure.has_value() ? &*failure : nullptr;
}

}  // namespace partita
