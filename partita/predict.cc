// Simulates plans and computes their reports.
// SPDX-License-Identifier: Apache-2.0

#include "partita/predict.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/kernel_id.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/gpu/ptx_catalog.h"
#include "partita/predict_step.h"
#include "partita/repeated_share.h"
#include "partita/sharded_updates.h"
#include "partita/transfer_count.h"
#include "placement/cost/cost_model.h"
#include "placement/lower/memory_bound.h"
#include "placement/simulate/lower_bound.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/micro_batches.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

// Adds the seconds to the reasons. Nodes that the compiler inserted have no
// reason.
void AddSeconds(const std::vector<double>& seconds, EntryNotes& notes) {
  std::vector<bool> noted(seconds.size(), false);
  for (NodeNote& note : notes.nodes) {
    note.seconds = seconds[note.node.index];
    noted[note.node.index] = true;
  }
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (noted[i] || seconds[i] == 0) continue;
    notes.nodes.push_back({NodeId(static_cast<int>(i)), "", seconds[i]});
  }
}

// Keeps the nodes of the placed graph that passes have not removed.
void DropDead(const Graph& graph, EntryNotes& notes) {
  std::erase_if(notes.nodes,
                [&](const NodeNote& note) { return !graph.alive(note.node); });
}

std::vector<KnownRanks> ShardedNodes(const Graph& graph,
                                     const std::vector<double>& seconds) {
  std::vector<KnownRanks> sharded(graph.node_id_bound());
  for (const OpView& op : graph.ops()) {
    if (!IsSharded(op)) continue;
    sharded[op.id().index] = {
        static_cast<int>(op.node().placement.devices.size()),
        seconds[op.id().index]};
  }
  return sharded;
}

// How often a step makes each value.
std::vector<int> RunsByValue(const Entry& entry) {
  const int micro_batches = CountMicroBatches(entry);
  std::vector<int> runs;
  for (const bool varies : VaryingValues(entry)) {
    runs.push_back(varies ? micro_batches : 1);
  }
  return runs;
}

LowerBound BoundEntry(const Entry& entry, const std::vector<double>& seconds,
                      const CostModel& source_costs) {
  return BoundStep(source_costs,
                   {.depth = entry.depth,
                    .sharded = ShardedNodes(*entry.graph, seconds),
                    .runs = RunsByValue(entry)});
}

// How often a step runs each node. A node that passes split counts once.
std::vector<int> RunsByNode(const Entry& entry) {
  const std::vector<int> by_value = RunsByValue(entry);
  std::vector<int> runs(entry.graph->node_id_bound(), 1);
  for (const OpView& op : entry.graph->ops()) {
    if (op.num_results() == 0) continue;
    runs[op.id().index] = by_value[op.result(0).id().index];
  }
  return runs;
}

absl::StatusOr<std::vector<DeviceUse>> UseOfDevices(
    const Plan& plan, const Entry& entry, const std::vector<double>& busy) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MemoryBound> bounds,
                           BoundMemory(plan, entry));
  std::vector<DeviceUse> uses;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    uses.push_back({.bound = plan.devices[d].persistent_bytes +
                             entry.depth * bounds[d].bound_bytes,
                    .busy_seconds = busy[d]});
  }
  return uses;
}

// Keeps the names sorted.
void AddIfNew(const std::string& name, std::vector<std::string>& names) {
  const auto place = absl::c_lower_bound(names, name);
  if (place == names.end() || *place != name) names.insert(place, name);
}

bool HasGpuCode(const Plan& plan) {
  return absl::c_any_of(plan.devices, [](const PlanDevice& device) {
    return !RunsHostCode(device.traits) && !CodeTargetOf(device.traits).empty();
  });
}

// Alone, or unfused.
bool HasGpuKernel(const OpView& op) {
  if (WhyHostFallback(op).ok()) return true;
  return op.is(kFused) &&
         absl::c_all_of(op.region(0).ops(), [](const OpView& part) {
           return part.is(kConstant) || WhyHostFallback(part).ok();
         });
}

void CountMissing(const Plan& plan, const OpView& op,
                  MissingGpuKernels& missing) {
  const KernelId& kernel = op.node().kernel->kernel;
  if (kernel.Is(kCostOnlyLibrary)) ++missing.cost_only_nodes;
  if (HasPtxKernel(op) || !HasGpuCode(plan) || HasGpuKernel(op)) return;
  missing.host_nodes.push_back(op.ToString());
}

void CountNodes(const Plan& plan, const Entry& entry,
                const std::vector<PricedNode>& chosen,
                EntryReport& entry_report, CompileReport& report) {
  absl::flat_hash_map<std::string, size_t> by_name;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    by_name[plan.devices[d].traits.name] = d;
  }
  for (const PricedNode& kernel : chosen) {
    const OpView op = entry.graph->view(kernel.node);
    for (const std::string& name : op.node().placement.devices) {
      ++entry_report.devices[by_name[name]].nodes;
    }
    CountMissing(plan, op, report.missing_gpu_kernels);
    if (!kernel.fallback) continue;
    report.fallbacks.nodes.push_back(op.ToString());
    AddIfNew(op.node().kernel->kernel.ToString(), report.fallbacks.kernels);
    report.fallbacks.seconds += kernel.seconds;
  }
  if (!report.fallbacks.nodes.empty()) {
    report.fallbacks.no_codegen = std::string(FindCodegen().message());
  }
  entry_report.repeated_share =
      RepeatedShare(*entry.graph, chosen, RunsByNode(entry));
}

absl::Status AddTransfers(const Entry& entry, EntryReport& report) {
  PARTITA_ASSIGN_OR_RETURN(const TransferCount count, CountTransfers(entry));
  report.copies = count.copies;
  report.copied_bytes = count.copied_bytes;
  report.collectives = count.collectives;
  report.collective_bytes = count.collective_bytes;
  return absl::OkStatus();
}

bool HasPins(const PlanNotes& notes) {
  return absl::c_any_of(notes.entries, [](const EntryNotes& entry) {
    return absl::c_any_of(entry.nodes, [](const NodeNote& node) {
      return node.reason == "pinned";
    });
  });
}

}  // namespace

absl::StatusOr<Prediction> PredictPlan(
    const Plan& plan, const Module& source, const Machine& machine,
    const KernelCatalog& catalog,
    const std::vector<std::vector<PricedNode>>& chosen,
    std::vector<EntryNotes> reasons) {
  Prediction prediction;
  prediction.notes.machine_json = MachineToJson(machine);
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    const Graph& graph = *plan.entries[e].graph;
    const std::vector<double> seconds = SecondsByNode(graph, chosen[e]);
    PARTITA_ASSIGN_OR_RETURN(
        const Simulation simulation,
        Simulate(plan, static_cast<int>(e), machine, seconds));
    EntryNotes notes = std::move(reasons[e]);
    DropDead(graph, notes);
    AddSeconds(seconds, notes);
    for (const SimulatedCommand& command : simulation.commands) {
      notes.predicted.push_back({command.start, command.end});
    }
    notes.step_seconds = simulation.step_seconds;
    const LowerBound bound =
        BoundEntry(plan.entries[e], seconds,
                   CostModel(*source.functions()[e], machine, catalog));
    notes.bound_seconds = bound.seconds;
    notes.bound_by = BoundByText(bound);
    prediction.step_seconds += simulation.step_seconds;
    prediction.latency_seconds += simulation.latency_seconds;
    prediction.busy_seconds.push_back(simulation.busy);
    prediction.notes.entries.push_back(std::move(notes));
  }
  return prediction;
}

absl::Status FillReport(const Plan& plan, const Prediction& prediction,
                        const std::vector<std::vector<PricedNode>>& chosen,
                        bool shards_updates, CompileReport& report) {
  report.has_pins = HasPins(*plan.notes);
  for (const PlanDevice& device : plan.devices) {
    report.devices.push_back({.device = device.traits.name,
                              .arena = ArenaBytes(device, PlanDepth(plan)),
                              .persistent = device.persistent_bytes,
                              .memory = device.memory});
  }
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    const Entry& entry = plan.entries[e];
    EntryReport& own = report.entries.emplace_back();
    own.name = entry.name;
    own.step_seconds = plan.notes->entries[e].step_seconds;
    own.bound_seconds = plan.notes->entries[e].bound_seconds;
    own.bound_by = plan.notes->entries[e].bound_by;
    PARTITA_ASSIGN_OR_RETURN(
        own.devices, UseOfDevices(plan, entry, prediction.busy_seconds[e]));
    CountNodes(plan, entry, chosen[e], own, report);
    if (shards_updates) {
      own.sharded_updates = CountShardedUpdates(plan.module, *entry.graph);
    }
    PARTITA_RETURN_IF_ERROR(AddTransfers(entry, own));
  }
  return absl::OkStatus();
}

}  // namespace partita
