// Counts the memory of functions, and lays out and emits their drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lower.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/lower/conflicts.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/emit.h"
#include "placement/lower/equal_packs.h"
#include "placement/lower/memory_shortage.h"
#include "placement/lower/pack.h"
#include "placement/lower/persistent.h"
#include "placement/lower/refusal.h"
#include "placement/lower/tasks.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

// The names of the devices that the function uses.
std::set<std::string> DevicesOf(const Graph& function) {
  std::set<std::string> names;
  const auto add = [&](const Placement& placement) {
    names.insert(placement.devices.begin(), placement.devices.end());
  };
  for (const OpView& op : function.ops()) add(op.node().placement);
  for (size_t i = 0; i < function.inputs().size(); ++i) {
    add(function.input_placement(static_cast<int>(i)));
  }
  return names;
}

absl::Status CheckDevices(const Graph& function, const DeviceTable& devices) {
  for (const std::string& name : DevicesOf(function)) {
    if (devices.ids.contains(name)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("found device ", name,
                     " in a placement; expected one of the machine's; place "
                     "the graph for this machine"));
  }
  return absl::OkStatus();
}

DeviceTable TableOf(const Machine& machine) {
  DeviceTable table;
  for (const MachineDevice& device : machine.devices) {
    table.ids[device.traits.name] = table.names.Add(device.traits.name);
  }
  return table;
}

// The devices of the plan: those that the module uses, or else the first.
struct PlanDevices {
  std::vector<PlanDevice> list;
  IdVector<MachineDeviceId, DeviceId> ids;  // invalid if not used
};

PlanDevices PlanDevicesOf(const Module& module, const Machine& machine) {
  std::set<std::string> used;
  for (const auto& function : module.functions())
    used.merge(DevicesOf(*function));
  if (used.empty() && !machine.devices.empty()) {
    used.insert(machine.devices[0].traits.name);
  }
  PlanDevices devices;
  for (const MachineDevice& device : machine.devices) {
    const MachineDeviceId id = devices.ids.Add({});
    if (!used.contains(device.traits.name)) continue;
    devices.ids[id] = DeviceId(static_cast<int>(devices.list.size()));
    devices.list.push_back({.traits = device.traits,
                            .memory = device.usable(),
                            .alignment = kArenaAlignment});
  }
  return devices;
}

// Chooses all addresses in the step part. Returns its bytes on each device.
IdVector<MachineDeviceId, int64_t> LayOutStep(FunctionDraft& function,
                                              int64_t budget) {
  PlanDraft& draft = function.draft;
  const IdVector<MachineDeviceId, std::vector<TaskId>> tasks =
      TasksByDevice(draft);
  IdVector<MachineDeviceId, int64_t> bytes(tasks.size(), 0);
  EqualPacks packs(budget);
  for (MachineDeviceId device : tasks.ids()) {
    if (tasks[device].empty()) continue;
    const DeviceClocks clocks(function.clocks, tasks[device]);
    DeviceStorages& found = function.storages[device];
    const Packing packing = LayOut(found, clocks, packs);
    for (PackBufferId buffer : found.storages.ids()) {
      draft.storages[found.storages[buffer]].offset = packing.offsets[buffer];
    }
    bytes[device] = AlignUp(packing.bytes);
  }
  return bytes;
}

// One function with all addresses.
struct LaidOutFunction {
  const PlanDraft* draft = nullptr;
  Entry entry;
  IdVector<MachineDeviceId, int64_t> step_bytes;
};

// The function that needs the largest step part on the device.
const LaidOutFunction& LargestOn(const std::vector<LaidOutFunction>& functions,
                                 MachineDeviceId device) {
  return *absl::c_max_element(
      functions, [&](const LaidOutFunction& a, const LaidOutFunction& b) {
        return a.step_bytes[device] < b.step_bytes[device];
      });
}

// Writes the sizes of arenas. The sum cannot overflow: a value has at most 2^46
// bytes, and a device that is too small is refused first.
absl::Status FillDevices(const std::vector<LaidOutFunction>& functions,
                         const PersistentArenas& persistent, int depth,
                         PlanDevices& devices) {
  const LaidOutFunction* short_of_memory = nullptr;
  MemoryShortage largest;
  for (MachineDeviceId d : devices.ids.ids()) {
    if (!devices.ids[d].valid() || functions.empty()) continue;
    PlanDevice& device = devices.list[devices.ids[d].index];
    const LaidOutFunction& function = LargestOn(functions, d);
    device.persistent_bytes = persistent.bytes(d);
    device.step_bytes = function.step_bytes[d];
    const int64_t needed = device.persistent_bytes + depth * device.step_bytes;
    if (needed - device.memory <= std::max<int64_t>(0, largest.missing())) {
      continue;
    }
    largest = {device.traits.name, needed, device.memory};
    short_of_memory = &function;
  }
  if (short_of_memory == nullptr) return absl::OkStatus();
  return ShortageError(*short_of_memory->draft, largest);
}

// True if the refusal's device lacks fewer bytes.
bool MissesLess(const absl::Status& refusal, const absl::Status& other) {
  const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
  const std::optional<MemoryShortage> others = ShortageOf(other);
  return shortage.has_value() && others.has_value() &&
         shortage->missing() < others->missing();
}

}  // namespace

Lowering::Lowering(const Machine& machine, LowerOptions options)
    : machine_(machine),
      options_(std::move(options)),
      devices_(TableOf(machine)) {}

absl::StatusOr<FunctionDraft> Lowering::Draft(const Graph& function, int number,
                                              const StepPredictor& predict,
                                              DraftGoal goal) const {
  const bool split = number < static_cast<int>(options_.micro_batches.size());
  return DraftFunction({function, machine_, devices_,
                        split ? options_.micro_batches[number] : whole_batch_,
                        predict, options_.depth},
                       goal);
}

absl::StatusOr<CountedFunction> Lowering::CountLiveBytes(
    const Graph& function, int number, StepPredictor predict) const {
  if (options_.depth < 1 || options_.depth > kMaxPlanDepth) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found depth ", options_.depth, "; expected 1..", kMaxPlanDepth));
  }
  PARTITA_RETURN_IF_ERROR(CheckDevices(function, devices_));
  PARTITA_ASSIGN_OR_RETURN(FunctionDraft fast,
                           Draft(function, number, predict, DraftGoal::kFast));
  return CountedFunction{&function,       number,       std::move(predict),
                         std::move(fast), std::nullopt, std::nullopt};
}

IdVector<MachineDeviceId, int64_t> Lowering::NeededBytes(
    const Drafts& drafts) const {
  return partita::NeededBytes(drafts, options_.depth, devices_);
}

absl::StatusOr<Lowering::ChosenDrafts> Lowering::Choose(
    absl::Span<CountedFunction* const> functions) const {
  const auto score_of = [&](const Drafts& drafts) {
    return ScoreOf(drafts, NeededBytes(drafts), machine_,
                   options_.least_memory);
  };
  ChosenDrafts best;
  PARTITA_ASSIGN_OR_RETURN(best.drafts, DraftsFor(DraftGoal::kFast, functions));
  DraftsScore score = score_of(best.drafts);
  for (DraftGoal goal : SmallerGoals(DraftGoal::kFast, functions)) {
    if (score.missing == 0 && !options_.least_memory.has_value()) break;
    PARTITA_ASSIGN_OR_RETURN(Drafts drafts, DraftsFor(goal, functions));
    const DraftsScore score_here = score_of(drafts);
    if (score_here >= score) continue;
    score = score_here;
    best = {goal, std::move(drafts)};
  }
  return best;
}

absl::StatusOr<Lowering::Drafts> Lowering::DraftsFor(
    DraftGoal goal, absl::Span<CountedFunction* const> functions) const {
  Drafts drafts;
  for (CountedFunction* function : functions) {
    const bool is_fast =
        goal == DraftGoal::kFast ||
        (goal == DraftGoal::kLeastPeak && function->fast.least_peak);
    if (is_fast) {
      drafts.push_back(&function->fast);
      continue;
    }
    std::optional<FunctionDraft>& draft =
        goal == DraftGoal::kLeastPeak ? function->least_peak : function->small;
    if (!draft.has_value()) {
      PARTITA_ASSIGN_OR_RETURN(draft, Draft(*function->graph, function->number,
                                            function->predict, goal));
    }
    drafts.push_back(&*draft);
  }
  return drafts;
}

absl::StatusOr<CountedPlan> Lowering::Figures(
    absl::Span<CountedFunction* const> functions) const {
  PARTITA_ASSIGN_OR_RETURN(const ChosenDrafts chosen, Choose(functions));
  const IdVector<MachineDeviceId, int64_t> needed = NeededBytes(chosen.drafts);
  return CountedPlan{{needed.begin(), needed.end()},
                     chosen.drafts.back()->step_seconds};
}

absl::StatusOr<Plan> Lowering::Finish(const Module& module,
                                      const Drafts& drafts) const {
  PlanDevices devices = PlanDevicesOf(module, machine_);
  PersistentArenas persistent(devices_);
  std::vector<LaidOutFunction> functions;
  for (FunctionDraft* function : drafts) {
    LaidOutFunction& laid_out = functions.emplace_back();
    laid_out.draft = &function->draft;
    laid_out.step_bytes = LayOutStep(*function, options_.search_budget);
    PARTITA_RETURN_IF_ERROR(persistent.Place(function->draft, module));
    laid_out.entry = Emit(function->draft, function->clocks, devices.ids);
    laid_out.entry.depth = options_.depth;
  }
  PARTITA_RETURN_IF_ERROR(
      FillDevices(functions, persistent, options_.depth, devices));
  Plan plan;
  plan.devices = std::move(devices.list);
  for (LaidOutFunction& function : functions) {
    plan.entries.push_back(std::move(function.entry));
  }
  if (!plan.entries.empty()) plan.name = plan.entries[0].name;
  return plan;
}

absl::StatusOr<Plan> Lowering::Finish(
    Module module, std::vector<CountedFunction> functions) const {
  PARTITA_RETURN_IF_ERROR(CheckVariablePlacements(module));
  std::vector<CountedFunction*> all;
  for (CountedFunction& function : functions) all.push_back(&function);
  PARTITA_ASSIGN_OR_RETURN(const ChosenDrafts chosen, Choose(all));
  absl::StatusOr<Plan> plan = Finish(module, chosen.drafts);
  // Packing may take more than was counted.
  for (DraftGoal goal : SmallerGoals(chosen.goal, all)) {
    if (!absl::IsResourceExhausted(plan.status())) break;
    PARTITA_ASSIGN_OR_RETURN(const Drafts drafts, DraftsFor(goal, all));
    absl::StatusOr<Plan> smaller = Finish(module, drafts);
    if (!MissesLess(plan.status(), smaller.status())) plan = std::move(smaller);
  }
  PARTITA_RETURN_IF_ERROR(plan.status());
  plan->module = std::move(module);
  return plan;
}

}  // namespace partita
