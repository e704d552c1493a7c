// The steps of lowering, in order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lower.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/lower/clocks.h"
#include "placement/lower/conflicts.h"
#include "placement/lower/delayed_all_reduces.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/emit.h"
#include "placement/lower/in_place.h"
#include "placement/lower/live_ranges.h"
#include "placement/lower/memory_shortage.h"
#include "placement/lower/micro_batch_order.h"
#include "placement/lower/pack.h"
#include "placement/lower/persistent.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/schedule.h"
#include "placement/lower/shards.h"
#include "placement/lower/tasks.h"
#include "placement/lower/updates.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

// The result of lowering one function: for the entry and for errors.
struct LoweredFunction {
  PlanDraft draft;
  Emitted emitted;
  std::vector<int64_t> step_bytes;  // by device
};

absl::StatusOr<DeviceTable> UsedDevices(const Module& module,
                                        const Machine& machine) {
  std::set<std::string> used;
  for (const auto& function : module.functions()) {
    for (const OpView& op : function->ops()) {
      const auto& devices = op.node().placement.devices;
      used.insert(devices.begin(), devices.end());
    }
    for (size_t i = 0; i < function->inputs().size(); ++i) {
      const auto& devices = function->input_placement(i).devices;
      used.insert(devices.begin(), devices.end());
    }
  }
  DeviceTable table;
  for (const MachineDevice& device : machine.devices) {
    if (used.erase(device.traits.name) == 0) continue;
    table.index[device.traits.name] = static_cast<int>(table.names.size());
    table.names.push_back(device.traits.name);
  }
  if (!used.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("found device ", *used.begin(),
                     " in a placement; expected one of the machine's; place "
                     "the graph for this machine"));
  }
  if (table.names.empty() && !machine.devices.empty()) {
    table.names.push_back(machine.devices[0].traits.name);
    table.index[table.names[0]] = 0;
  }
  return table;
}

// Drops streams without tasks and sorts the others by device.
void SortStreams(PlanDraft& draft) {
  std::set<StreamKey> used;
  for (const Task& task : draft.tasks) used.insert(draft.streams[task.stream]);
  const std::vector<StreamKey> sorted(used.begin(), used.end());
  for (Task& task : draft.tasks) {
    const StreamKey key = draft.streams[task.stream];
    task.stream = static_cast<int>(
        std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin());
  }
  draft.streams = sorted;
}

void LayOutStep(LoweredFunction& function, const Clocks& clocks,
                int64_t budget) {
  PlanDraft& draft = function.draft;
  const std::vector<std::vector<int>> tasks = TasksByDevice(draft);
  for (size_t device = 0; device < draft.devices->names.size(); ++device) {
    const int number = static_cast<int>(device);
    const DeviceClocks device_clocks(clocks, tasks[device]);
    DeviceStorages found =
        FindLiveRanges(draft, device_clocks, tasks[device], number);
    const Packing packing = LayOut(found, device_clocks, budget);
    for (size_t i = 0; i < found.storages.size(); ++i) {
      draft.storages[found.storages[i]].address = packing.addresses[i];
    }
    function.step_bytes.push_back(AlignUp(packing.bytes));
  }
}

// The inputs of lowering.
struct LoweringInputs {
  const Module& module;
  const DeviceTable& devices;
  const Machine& machine;
  const LowerOptions& options;
};

absl::StatusOr<LoweredFunction> LowerFunction(const LoweringInputs& inputs,
                                              size_t number,
                                              DelayedAllReduces delayed,
                                              PersistentArenas& persistent) {
  const LowerOptions& options = inputs.options;
  LoweredFunction function;
  PlanDraft& draft = function.draft;
  draft.graph = inputs.module.functions()[number].get();
  draft.devices = &inputs.devices;
  if (number < options.micro_batches.size()) {
    draft.micro_batches = options.micro_batches[number];
  }
  PARTITA_RETURN_IF_ERROR(FindShards(draft));
  PARTITA_RETURN_IF_ERROR(ListTasks(draft, inputs.machine));
  OrderMicroBatches(draft);
  PARTITA_RETURN_IF_ERROR(Schedule(draft, delayed));
  WriteUpdatesInPlace(draft);
  SortStreams(draft);
  if (options.depth > 1) PARTITA_RETURN_IF_ERROR(CheckUpdatesOverlap(draft));
  const Clocks clocks = ClocksOf(draft);
  ReuseOperands(draft, clocks);
  LayOutStep(function, clocks, options.search_budget);
  PARTITA_RETURN_IF_ERROR(persistent.Place(draft, inputs.module));
  function.emitted = Emit(draft, clocks);
  function.emitted.entry.depth = options.depth;
  return function;
}

struct LoweredModule {
  std::vector<LoweredFunction> functions;
  PersistentArenas persistent;
};

absl::StatusOr<LoweredModule> LowerFunctions(const LoweringInputs& inputs,
                                             DelayedAllReduces delayed) {
  LoweredModule lowered{
      {}, PersistentArenas(static_cast<int>(inputs.devices.names.size()))};
  for (size_t i = 0; i < inputs.module.functions().size(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(
        LoweredFunction function,
        LowerFunction(inputs, i, delayed, lowered.persistent));
    lowered.functions.push_back(std::move(function));
  }
  return lowered;
}

std::vector<PlanDevice> PlanDevices(const DeviceTable& devices,
                                    const Machine& machine) {
  std::vector<PlanDevice> plan_devices;
  for (const std::string& name : devices.names) {
    const MachineDevice& device = *machine.FindDevice(name);
    plan_devices.push_back({.traits = device.traits,
                            .memory = device.usable(),
                            .alignment = kArenaAlignment});
  }
  return plan_devices;
}

// The sum cannot overflow: a value has at most 2^46 bytes, and a device that is
// too small is refused first.
absl::Status FillDevices(const LoweredModule& lowered, int depth,
                         std::vector<PlanDevice>& devices) {
  for (size_t i = 0; i < devices.size(); ++i) {
    PlanDevice& device = devices[i];
    device.persistent_bytes = lowered.persistent.bytes(static_cast<int>(i));
    const LoweredFunction* largest = nullptr;
    for (const LoweredFunction& function : lowered.functions) {
      if (largest != nullptr && function.step_bytes[i] <= device.step_bytes) {
        continue;
      }
      largest = &function;
      device.step_bytes = function.step_bytes[i];
    }
    const int64_t needed = device.persistent_bytes + depth * device.step_bytes;
    if (needed > device.memory && largest != nullptr) {
      return ShortageError(largest->draft, largest->emitted,
                           {device.traits.name, needed, device.memory});
    }
  }
  return absl::OkStatus();
}

bool HasOverlappedCollectives(const LoweredModule& lowered) {
  return absl::c_any_of(lowered.functions, [](const LoweredFunction& function) {
    return HasOverlappedCollectives(function.draft);
  });
}

}  // namespace

absl::StatusOr<Plan> Lower(Module module, const Machine& machine,
                           const LowerOptions& options) {
  if (options.depth < 1 || options.depth > kMaxPlanDepth) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found depth ", options.depth, "; expected 1..", kMaxPlanDepth));
  }
  PARTITA_RETURN_IF_ERROR(CheckVariablePlacements(module));
  PARTITA_ASSIGN_OR_RETURN(const DeviceTable devices,
                           UsedDevices(module, machine));
  const LoweringInputs inputs = {module, devices, machine, options};
  PARTITA_ASSIGN_OR_RETURN(LoweredModule lowered,
                           LowerFunctions(inputs, DelayedAllReduces::kAll));
  Plan plan;
  plan.devices = PlanDevices(devices, machine);
  absl::Status fits = FillDevices(lowered, options.depth, plan.devices);
  if (absl::IsResourceExhausted(fits) && HasOverlappedCollectives(lowered)) {
    // Slower, but frees gradients sooner.
    PARTITA_ASSIGN_OR_RETURN(
        lowered, LowerFunctions(inputs, DelayedAllReduces::kInComputeStreams));
    plan.devices = PlanDevices(devices, machine);
    fits = FillDevices(lowered, options.depth, plan.devices);
  }
  PARTITA_RETURN_IF_ERROR(fits);
  for (LoweredFunction& function : lowered.functions) {
    plan.entries.push_back(std::move(function.emitted.entry));
  }
  if (!plan.entries.empty()) plan.name = plan.entries[0].name;
  plan.module = std::move(module);
  return plan;
}

}  // namespace partita
