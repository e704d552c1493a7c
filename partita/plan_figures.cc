// Simulates a plan and follows its critical path.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_figures.h"

#include <utility>

#include "graph/status_macros.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/command_titles.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

double& SecondsOfKind(Command::Kind kind, CriticalPath& path) {
  switch (kind) {
    case Command::Kind::kKernel:
      return path.kernels;
    case Command::Kind::kFeed:
    case Command::Kind::kFetch:
      return path.ports;
    default:
      return path.transfers;
  }
}

// A command is on the path from the end of its cause to its own end, so the
// parts are in sequence without gaps.
CriticalPath PathOf(const Plan& plan, const Entry& entry,
                    const CommandList& commands, const Simulation& simulation) {
  const CommandTitles titles(plan, entry);
  CriticalPath path;
  double before = 0;
  for (CommandId id : simulation.critical_path) {
    const double end = simulation.commands[id].end;
    const double seconds = end - before;
    before = end;
    if (seconds <= 0) continue;
    const Command& command = commands[id];
    const Stream& stream = entry.streams[command.stream.index];
    SecondsOfKind(command.kind, path) += seconds;
    path.commands.push_back({titles.TitleOf(command),
                             plan.devices[stream.device.index].traits.name,
                             command.kind, seconds});
  }
  return path;
}

absl::StatusOr<EntryFigures> FiguresOfEntry(
    const Plan& plan, size_t number, const Machine& machine,
    absl::Span<const double> node_seconds) {
  const Entry& entry = plan.entries[number];
  PARTITA_ASSIGN_OR_RETURN(
      const Simulation simulation,
      Simulate(plan, static_cast<int>(number), machine, node_seconds));
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  EntryFigures figures;
  figures.name = entry.name;
  figures.step_seconds = simulation.step_seconds;
  figures.latency_seconds = simulation.latency_seconds;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    figures.busy.push_back({plan.devices[d].traits.name, simulation.busy[d]});
  }
  PARTITA_ASSIGN_OR_RETURN(figures.transfers, CountTransfers(entry));
  figures.path = PathOf(plan, entry, commands, simulation);
  return figures;
}

}  // namespace

absl::StatusOr<PlanFigures> FiguresOf(
    const Plan& plan, const Machine& machine,
    absl::Span<const std::vector<double>> node_seconds) {
  PlanFigures figures;
  for (const PlanDevice& device : plan.devices) {
    figures.devices.push_back({.device = device.traits.name,
                               .arena = ArenaBytes(device, PlanDepth(plan)),
                               .persistent = device.persistent_bytes,
                               .memory = device.memory});
  }
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(EntryFigures entry,
                             FiguresOfEntry(plan, e, machine, node_seconds[e]));
    figures.entries.push_back(std::move(entry));
  }
  return figures;
}

absl::StatusOr<PlanFigures> FiguresOf(const Plan& plan,
                                      const PlanMachine& machine) {
  std::vector<std::vector<double>> node_seconds;
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(std::vector<double> seconds,
                             NodeSecondsOf(plan, e, machine));
    node_seconds.push_back(std::move(seconds));
  }
  return FiguresOf(plan, machine.machine, node_seconds);
}

}  // namespace partita
