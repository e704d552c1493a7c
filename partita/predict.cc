// Simulates plans and gathers what people want to know of them.
// SPDX-License-Identifier: Apache-2.0

#include "partita/predict.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "partita/catalogs.h"
#include "placement/cost/cost_model.h"
#include "placement/lower/memory_bound.h"
#include "placement/simulate/lower_bound.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

std::vector<double> SecondsByNode(const Graph& graph,
                                  const std::vector<ChosenKernel>& chosen) {
  std::vector<double> seconds(graph.node_id_bound(), 0);
  for (const ChosenKernel& kernel : chosen) {
    seconds[kernel.node.index] = kernel.seconds;
  }
  return seconds;
}

// Adds the seconds to the reasons; nodes that the compiler made have no reason
// of their own.
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

// Nodes of the graph as placed: those that passes removed since are forgotten.
void DropDead(const Graph& graph, EntryNotes& notes) {
  std::erase_if(notes.nodes,
                [&](const NodeNote& note) { return !graph.alive(note.node); });
}

}  // namespace

absl::StatusOr<Prediction> PredictPlan(
    const Plan& plan, const Machine& machine,
    const std::vector<std::vector<ChosenKernel>>& chosen,
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
    const Goal goal =
        plan.entries[e].depth > 1 ? Goal::kThroughput : Goal::kLatency;
    notes.bound_seconds =
        BoundStep(CostModel(graph, machine, BuiltInCatalog()), goal).seconds;
    if (e == 0) {
      prediction.step_seconds = simulation.step_seconds;
      prediction.latency_seconds = simulation.latency_seconds;
      prediction.bound_seconds = notes.bound_seconds;
      prediction.busy_seconds = simulation.busy;
    }
    prediction.notes.entries.push_back(std::move(notes));
  }
  return prediction;
}

absl::Status FillReport(const Plan& plan, const Prediction& prediction,
                        const std::vector<std::vector<ChosenKernel>>& chosen,
                        CompileReport& report) {
  report.step_seconds = prediction.step_seconds;
  report.bound_seconds = prediction.bound_seconds;
  const Entry& entry = plan.entries.front();
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MemoryBound> bounds,
                           BoundMemory(plan, entry));
  absl::flat_hash_map<std::string, size_t> by_name;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    const PlanDevice& device = plan.devices[d];
    by_name[device.traits.name] = d;
    report.devices.push_back(
        {.device = device.traits.name,
         .arena = ArenaBytes(device, PlanDepth(plan)),
         .bound = device.persistent_bytes + entry.depth * bounds[d].bound_bytes,
         .persistent = device.persistent_bytes,
         .memory = device.memory,
         .nodes = 0,
         .busy_seconds = prediction.busy_seconds[d]});
  }
  for (const ChosenKernel& kernel : chosen.front()) {
    const OpView op = entry.graph->view(kernel.node);
    for (const std::string& name : op.node().placement.devices) {
      ++report.devices[by_name[name]].nodes;
    }
    if (kernel.fallback) report.fallbacks.push_back(op.ToString());
  }
  for (const Program& program : entry.programs) {
    for (const Command& command : program.commands) {
      if (command.kind != Command::Kind::kCopy) continue;
      ++report.copies;
      for (BufferId operand : command.operands) {
        if (operand.index >= kFirstSlot) continue;
        report.copied_bytes += entry.buffers[operand.index].range.size();
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
