// The steps of lowering, in order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lower.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/lower/clocks.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/draft.h"
#include "placement/lower/emit.h"
#include "placement/lower/in_place.h"
#include "placement/lower/lifetimes.h"
#include "placement/lower/memory_shortage.h"
#include "placement/lower/pack.h"
#include "placement/lower/persistent.h"
#include "placement/lower/pieces.h"
#include "placement/lower/schedule.h"
#include "placement/lower/tasks.h"
#include "placement/lower/updates.h"

namespace partita {
namespace {

constexpr int kMaxDepth = 64;

// What lowering knows of one function at the end, for the entry and for errors.
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

// Streams in the order of their devices, and only those that have tasks.
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
  for (size_t device = 0; device < draft.devices->names.size(); ++device) {
    const DeviceStorages found =
        FindConflicts(draft, clocks, static_cast<int>(device));
    const Packing packing = Pack(found.problem, found.bound, budget);
    for (size_t i = 0; i < found.storages.size(); ++i) {
      draft.storages[found.storages[i]].address = packing.addresses[i];
    }
    function.step_bytes.push_back(AlignUp(packing.bytes));
  }
}

absl::StatusOr<LoweredFunction> LowerFunction(const Graph& graph,
                                              const DeviceTable& devices,
                                              const Machine& machine,
                                              const LowerOptions& options,
                                              const Module& module,
                                              PersistentArenas& persistent) {
  LoweredFunction function;
  PlanDraft& draft = function.draft;
  draft.graph = &graph;
  draft.devices = &devices;
  PARTITA_RETURN_IF_ERROR(CutPieces(draft));
  PARTITA_RETURN_IF_ERROR(ListTasks(draft, machine));
  PARTITA_RETURN_IF_ERROR(Schedule(draft));
  WriteUpdatesInPlace(draft);
  SortStreams(draft);
  if (options.depth > 1) PARTITA_RETURN_IF_ERROR(CheckUpdatesOverlap(draft));
  const Clocks clocks = Clocks::Make(draft, FindDependencies(draft));
  ReuseOperands(draft, clocks);
  LayOutStep(function, clocks, options.search_budget);
  PARTITA_RETURN_IF_ERROR(persistent.Place(draft, module));
  function.emitted = Emit(draft, clocks);
  function.emitted.entry.depth = options.depth;
  return function;
}

// First and last command that touches each storage of the step part.
struct Lifespan {
  int first = -1;
  int last = -1;
};

std::vector<Lifespan> Lifespans(const LoweredFunction& function) {
  const PlanDraft& draft = function.draft;
  std::vector<Lifespan> lifespans(draft.storages.size());
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const int command = function.emitted.commands[i];
    auto touch = [&](int storage) {
      if (storage < 0 || draft.storages[storage].persistent()) return;
      Lifespan& lifespan = lifespans[storage];
      if (lifespan.first < 0) lifespan.first = command;
      lifespan.last = command;
    };
    const Task& task = draft.tasks[i];
    for (const Touch& t : task.reads) touch(draft.pieces[t.piece].storage);
    for (const Touch& t : task.writes) touch(draft.pieces[t.piece].storage);
    touch(task.workspace);
  }
  return lifespans;
}

// The command at which most bytes of the device are live.
int FullestCommand(const LoweredFunction& function,
                   const std::vector<Lifespan>& lifespans, int device) {
  const PlanDraft& draft = function.draft;
  std::vector<int64_t> change(
      function.emitted.entry.programs[0].commands.size() + 1, 0);
  for (size_t i = 0; i < lifespans.size(); ++i) {
    if (lifespans[i].first < 0 || draft.storages[i].device != device) continue;
    change[lifespans[i].first] += draft.storages[i].bytes;
    change[lifespans[i].last + 1] -= draft.storages[i].bytes;
  }
  int fullest = -1;
  int64_t most = 0;
  int64_t live = 0;
  for (size_t i = 0; i < change.size(); ++i) {
    live += change[i];
    if (live > most) {
      most = live;
      fullest = static_cast<int>(i);
    }
  }
  return fullest;
}

// The value whose definition begins the storage.
std::vector<std::string> StorageNames(const PlanDraft& draft) {
  std::vector<std::string> names(draft.storages.size());
  for (const Piece& piece : draft.pieces) {
    if (piece.storage < 0 || !names[piece.storage].empty()) continue;
    names[piece.storage] = ValueText(*draft.graph, piece.value);
  }
  for (const Task& task : draft.tasks) {
    if (task.workspace < 0) continue;
    names[task.workspace] = draft.graph->view(task.instance.node).ToString();
  }
  return names;
}

std::string KindOf(const PlanDraft& draft, const Storage& storage,
                   const Lifespan& lifespan, bool is_workspace) {
  if (storage.persistent()) {
    return draft.graph->view(storage.source).is(kVariable) ? "variable"
                                                           : "constant";
  }
  if (is_workspace) return absl::StrCat("workspace, ", lifespan.first);
  return absl::StrCat("live ", lifespan.first, "..", lifespan.last);
}

// What fills the device at its fullest command.
std::vector<RefusalHolder> Holders(const LoweredFunction& function, int device,
                                   int command) {
  const PlanDraft& draft = function.draft;
  const std::vector<Lifespan> lifespans = Lifespans(function);
  const std::vector<std::string> names = StorageNames(draft);
  std::vector<bool> is_workspace(draft.storages.size(), false);
  for (const Task& task : draft.tasks) {
    if (task.workspace >= 0) is_workspace[task.workspace] = true;
  }
  std::vector<RefusalHolder> holders;
  for (size_t i = 0; i < lifespans.size(); ++i) {
    const Storage& storage = draft.storages[i];
    const Lifespan& life = lifespans[i];
    const bool live =
        storage.persistent()
            ? storage.address >= 0
            : life.first >= 0 && life.first <= command && life.last >= command;
    if (storage.device != device || !live) continue;
    holders.push_back({names[i], storage.bytes,
                       KindOf(draft, storage, life, is_workspace[i])});
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const RefusalHolder& a, const RefusalHolder& b) {
                     return a.bytes > b.bytes;
                   });
  return holders;
}

absl::Status Shortage(const LoweredFunction& function, int device,
                      int64_t needed, int64_t limit) {
  const int command = FullestCommand(function, Lifespans(function), device);
  const std::string& name = function.draft.devices->names[device];
  Refusal refusal{.where = absl::StrCat("plan @", function.draft.graph->name()),
                  .device = name,
                  .needed = needed,
                  .limit = limit,
                  .largest = Holders(function, device, command),
                  .remedies = {MemoryRemedy(needed, name),
                               absl::StrCat("pins of some layers to a device "
                                            "other than ",
                                            name),
                               "a smaller batch"}};
  if (command >= 0) refusal.at = absl::StrCat("command ", command);
  return ShortageError(refusal);
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

// Overflow is impossible: a device that is too small is refused before the sum
// could reach it, as each addend is at most 2^46 bytes a value.
absl::Status FillDevices(const std::vector<LoweredFunction>& functions,
                         const PersistentArenas& persistent, int depth,
                         std::vector<PlanDevice>& devices) {
  for (size_t i = 0; i < devices.size(); ++i) {
    PlanDevice& device = devices[i];
    device.persistent_bytes = persistent.bytes(static_cast<int>(i));
    const LoweredFunction* largest = nullptr;
    for (const LoweredFunction& function : functions) {
      if (largest != nullptr && function.step_bytes[i] <= device.step_bytes) {
        continue;
      }
      largest = &function;
      device.step_bytes = function.step_bytes[i];
    }
    const int64_t needed = device.persistent_bytes + depth * device.step_bytes;
    if (needed > device.memory && largest != nullptr) {
      return Shortage(*largest, static_cast<int>(i), needed, device.memory);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Plan> Lower(Module module, const Machine& machine,
                           const LowerOptions& options) {
  if (options.depth < 1 || options.depth > kMaxDepth) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found depth ", options.depth, "; expected 1..", kMaxDepth));
  }
  PARTITA_RETURN_IF_ERROR(CheckVariableHomes(module));
  PARTITA_ASSIGN_OR_RETURN(const DeviceTable devices,
                           UsedDevices(module, machine));
  PersistentArenas persistent(static_cast<int>(devices.names.size()));
  std::vector<LoweredFunction> functions;
  for (const auto& graph : module.functions()) {
    PARTITA_ASSIGN_OR_RETURN(
        LoweredFunction function,
        LowerFunction(*graph, devices, machine, options, module, persistent));
    functions.push_back(std::move(function));
  }
  Plan plan;
  plan.devices = PlanDevices(devices, machine);
  PARTITA_RETURN_IF_ERROR(
      FillDevices(functions, persistent, options.depth, plan.devices));
  for (LoweredFunction& function : functions) {
    plan.entries.push_back(std::move(function.emitted.entry));
  }
  if (!functions.empty()) plan.name = plan.entries[0].name;
  plan.module = std::move(module);
  return plan;
}

}  // namespace partita
