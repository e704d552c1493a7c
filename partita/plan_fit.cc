// Compares arenas with devices.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_fit.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "partita/plan_figures.h"
#include "partita/plan_prices.h"
#include "placement/lower/refusal.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

PlanFit EmptyFit(const Machine& machine) {
  PlanFit fit{.machine = machine.name};
  for (const MachineDevice& device : machine.devices) {
    fit.devices.push_back(
        {.device = device.traits.name, .usable = device.usable()});
  }
  return fit;
}

DeviceFit* FindDevice(PlanFit& fit, const std::string& device) {
  const auto place = absl::c_find_if(
      fit.devices, [&](const DeviceFit& row) { return row.device == device; });
  return place == fit.devices.end() ? nullptr : &*place;
}

// What a machine lacks, not what is wrong with the question.
bool IsLack(const absl::Status& status) {
  return OptionOf(status).empty() &&
         (absl::IsFailedPrecondition(status) ||
          absl::IsResourceExhausted(status) || absl::IsUnimplemented(status));
}

void CompareKinds(const Plan& plan, const Machine& machine, PlanFit& fit) {
  for (const PlanDevice& device : plan.devices) {
    const MachineDevice* same = machine.FindDevice(device.traits.name);
    if (same == nullptr || same->traits.kind == device.traits.kind) continue;
    fit.faults.push_back(absl::StrCat(
        "machine ", machine.name, ": found device ", device.traits.name,
        " of kind ", DeviceKindName(same->traits.kind), "; expected kind ",
        DeviceKindName(device.traits.kind), ", as the plan's"));
  }
}

// Kernels and links: a simulation needs them all.
absl::Status CompareRuns(const Plan& plan, const Machine& machine,
                         PlanFit& fit) {
  absl::Status runs = CheckHasDevices(plan, machine);
  if (runs.ok()) runs = FiguresOf(plan, PlanMachine{machine}).status();
  if (runs.ok()) return runs;
  if (!IsLack(runs)) return runs;
  fit.faults.push_back(std::string(runs.message()));
  return absl::OkStatus();
}

}  // namespace

double DeviceFit::margin_percent() const {
  return usable == 0 ? 0 : 100.0 * margin() / usable;
}

bool PlanFit::fits() const {
  return faults.empty() && absl::c_all_of(devices, [](const DeviceFit& device) {
           return device.fits();
         });
}

absl::StatusOr<PlanFit> FitPlan(const Plan& plan, const Machine& machine) {
  PlanFit fit = EmptyFit(machine);
  for (DeviceFit& device : fit.devices) device.needed = 0;
  for (const PlanDevice& device : plan.devices) {
    DeviceFit* row = FindDevice(fit, device.traits.name);
    if (row == nullptr) continue;  // a fault below
    row->needed = ArenaBytes(device, PlanDepth(plan));
  }
  CompareKinds(plan, machine, fit);
  if (!fit.faults.empty()) return fit;
  PARTITA_RETURN_IF_ERROR(CompareRuns(plan, machine, fit));
  return fit;
}

absl::StatusOr<PlanFit> FitModel(Module model, const Machine& machine,
                                 const CompileOptions& options) {
  PlanFit fit = EmptyFit(machine);
  const absl::StatusOr<Compiled> predicted =
      Predict(std::move(model), machine, options);
  if (!predicted.ok()) {
    const absl::Status& status = predicted.status();
    if (!IsLack(status)) return status;
    fit.faults.push_back(std::string(status.message()));
    const std::optional<MemoryShortage> shortage = ShortageOf(status);
    if (!shortage.has_value()) return fit;
    DeviceFit* row = FindDevice(fit, shortage->device);
    if (row != nullptr) row->needed = shortage->needed;
    return fit;
  }
  for (DeviceFit& device : fit.devices) device.needed = 0;
  for (const DeviceMemoryUse& use : predicted->report.devices) {
    FindDevice(fit, use.device)->needed = use.arena;
  }
  return fit;
}

}  // namespace partita
