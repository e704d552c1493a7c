// Opens the GPUs, runs a small plan on each, and copies between them.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/measure_gpus.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/host_tensor.h"
#include "graph/ops/op_set.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "partita/backends/backend.h"
#include "partita/compile.h"
#include "partita/profile/measure_copies.h"
#include "partita/session.h"
#include "placement/machine/link_table.h"

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMebibyte = int64_t{1} << 20;

// Several kernels, none of which takes long where software emulates a GPU.
constexpr char kModel[] = R"(
graph @reserve(%x: f32[16, 16]) -> f32[16, 16] {
  %a = matmul %x, %x : f32[16, 16]
  %b = exp %a : f32[16, 16]
  %y = softmax %b {axis = 1} : f32[16, 16]
  return %y
}
)";

bool HasOwnMemory(const DeviceTraits& traits) {
  return !TraitsOf(traits.kind).shares_host;
}

int64_t InUse(const MemoryFigures& figures) {
  return figures.total - figures.free;
}

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const DeviceTraits& traits) {
  const Backend& backend = BackendOf(traits.kind);
  if (backend.new_device == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("device ", traits.name, ": found a build that runs no ",
                     DeviceKindName(traits.kind), " device; expected one"));
  }
  return backend.new_device(traits, /*split=*/{});
}

// Outside the arena of a session of the model on the device, after a step.
absl::StatusOr<int64_t> OutsideArena(const Machine& machine,
                                     const std::string& device) {
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ParseModule(kModel, "reserve", OpSet::BuiltIn()));
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = device;
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           Compile(std::move(module), machine, options));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Session> session,
      Session::Create(std::make_shared<const Plan>(std::move(compiled.plan))));
  PARTITA_RETURN_IF_ERROR(
      session->SetInput(0, HostTensor(session->input_type(0))));
  PARTITA_RETURN_IF_ERROR(session->Run());
  PARTITA_ASSIGN_OR_RETURN(const std::vector<DeviceMemory> memory,
                           session->MemoryUse());
  const auto own = absl::c_find_if(
      memory, [&](const DeviceMemory& use) { return use.device == device; });
  if (own == memory.end()) {
    return absl::InternalError(
        absl::StrCat("bug: a plan for ", device, " does not use it"));
  }
  return own->outside;
}

class GpuMeasurer {
 public:
  GpuMeasurer(const Machine& machine, const MeasureOptions& options)
      : machine_(machine), options_(options), begin_(Clock::now()) {}

  absl::StatusOr<GpuMeasurements> Run() {
    PARTITA_RETURN_IF_ERROR(OpenDevices());
    for (const MachineDevice& device : machine_.devices) {
      if (!HasOwnMemory(device.traits)) continue;
      MeasureOne(absl::StrCat("reserve of ", device.traits.name),
                 [&] { return MeasureReserve(device); });
    }
    for (const Link& link : machine_.links) {
      if (!HasGpuAtAnEnd(link)) continue;
      MeasureOne(absl::StrCat("link ", link.from, " - ", link.to),
                 [&] { return MeasureLinkOf(link); });
    }
    return std::move(result_);
  }

 private:
  bool IsOver() const {
    const std::chrono::duration<double> spent = Clock::now() - begin_;
    return spent.count() >= options_.seconds;
  }

  void Skip(absl::string_view reason) {
    if (absl::c_linear_search(result_.skipped, reason)) return;
    result_.skipped.emplace_back(reason);
  }

  template <typename Measure>
  void MeasureOne(const std::string& what, Measure measure) {
    if (IsOver()) {
      ++result_.left;
      return;
    }
    if (options_.progress) options_.progress(what);
    if (const absl::Status status = measure(); !status.ok()) {
      Skip(absl::StrCat(what, ": ", status.message()));
    }
  }

  // All at once: contexts of GPUs that are peers find each other.
  absl::Status OpenDevices() {
    bool has_gpu = false;
    std::string reasons;
    for (const MachineDevice& device : machine_.devices) {
      absl::StatusOr<std::unique_ptr<Device>> opened =
          OpenDevice(device.traits);
      if (!opened.ok()) {
        absl::StrAppend(&reasons, "\n  ", opened.status().message());
        continue;
      }
      has_gpu |= HasOwnMemory(device.traits);
      devices_[device.traits.name] = *std::move(opened);
    }
    if (has_gpu) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "found no GPU to measure", reasons, "\nexpected at least one"));
  }

  absl::StatusOr<Device*> Find(const std::string& name) const {
    const auto found = devices_.find(name);
    if (found != devices_.end()) return found->second.get();
    return absl::UnavailableError(
        absl::StrCat("device ", name, " is not here"));
  }

  bool HasGpuAtAnEnd(const Link& link) const {
    return absl::c_any_of(machine_.devices, [&](const MachineDevice& device) {
      const std::string& name = device.traits.name;
      return HasOwnMemory(device.traits) &&
             (name == link.from || name == link.to);
    });
  }

  absl::Status MeasureReserve(const MachineDevice& device) {
    const std::string& name = device.traits.name;
    PARTITA_ASSIGN_OR_RETURN(Device* const opened, Find(name));
    PARTITA_ASSIGN_OR_RETURN(const std::optional<MemoryFigures> figures,
                             opened->Memory());
    if (!figures.has_value()) {
      return absl::UnavailableError("the driver reports no memory");
    }
    PARTITA_ASSIGN_OR_RETURN(const int64_t code, OutsideArena(machine_, name));
    result_.reserves.push_back({name, InUse(*figures), code});
    return absl::OkStatus();
  }

  absl::Status MeasureLinkOf(const Link& link) {
    PARTITA_ASSIGN_OR_RETURN(Device* const from, Find(link.from));
    PARTITA_ASSIGN_OR_RETURN(Device* const to, Find(link.to));
    PARTITA_ASSIGN_OR_RETURN(result_.links.emplace_back(),
                             MeasureCopies(*from, *to, link));
    return absl::OkStatus();
  }

  const Machine& machine_;
  const MeasureOptions& options_;
  const Clock::time_point begin_;
  std::map<std::string, std::unique_ptr<Device>> devices_;  // that are here
  GpuMeasurements result_;
};

}  // namespace

absl::StatusOr<GpuMeasurements> MeasureGpus(const Machine& machine,
                                            const MeasureOptions& options) {
  if (!(options.seconds > 0)) {
    return OfOption("time-budget", absl::InvalidArgumentError(absl::StrCat(
                                       "time-budget: found ", options.seconds,
                                       " seconds; expected more than 0")));
  }
  return GpuMeasurer(machine, options).Run();
}

void UseMeasurements(const GpuMeasurements& measured, Machine& machine) {
  for (const MeasuredReserve& reserve : measured.reserves) {
    for (MachineDevice& device : machine.devices) {
      if (device.traits.name != reserve.device) continue;
      const int64_t bytes =
          (reserve.code + kMebibyte - 1) / kMebibyte * kMebibyte;
      // A machine file leaves something to plans.
      device.reserve = std::clamp(bytes, int64_t{0}, device.memory - 1);
    }
  }
  for (const MeasuredLink& link : measured.links) {
    for (Link& of_machine : machine.links) {
      if (LinkTable::InOrder(of_machine.from, of_machine.to) != link.ends()) {
        continue;
      }
      of_machine.bandwidth = link.bandwidth;
      of_machine.latency = link.latency;
    }
  }
}

}  // namespace partita
