// Simulates entries that have no addresses yet.
// SPDX-License-Identifier: Apache-2.0

#include "partita/predict_step.h"

#include <optional>
#include <utility>

#include "placement/simulate/simulate.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

bool IsSync(const Command& command) {
  return command.kind == Command::Kind::kRecord ||
         command.kind == Command::Kind::kWait;
}

Plan PlanFor(const Machine& machine, Entry entry) {
  Plan plan;
  for (const MachineDevice& device : machine.devices) {
    plan.devices.push_back({.traits = device.traits});
  }
  plan.entries.push_back(std::move(entry));
  return plan;
}

std::optional<PredictedStep> PredictStep(const Machine& machine, Goal goal,
                                         const std::vector<double>& seconds,
                                         Entry entry) {
  const Plan plan = PlanFor(machine, std::move(entry));
  const absl::StatusOr<CommandList> commands = Expand(plan.entries[0]);
  const absl::StatusOr<Simulation> simulation =
      Simulate(plan, 0, machine, seconds);
  if (!commands.ok() || !simulation.ok()) return std::nullopt;
  PredictedStep predicted{goal == Goal::kLatency ? simulation->latency_seconds
                                                 : simulation->step_seconds,
                          {}};
  for (CommandId id : simulation->commands.ids()) {
    if (IsSync((*commands)[id])) continue;
    const SimulatedCommand& command = simulation->commands[id];
    predicted.command_seconds.push_back(command.end - command.start);
  }
  return predicted;
}

}  // namespace

std::vector<double> SecondsByNode(const Graph& graph,
                                  const std::vector<PricedNode>& chosen) {
  std::vector<double> seconds(graph.node_id_bound(), 0);
  for (const PricedNode& kernel : chosen) {
    seconds[kernel.node.index] = kernel.seconds;
  }
  return seconds;
}

StepPredictor StepPredictorOf(const Graph& graph,
                              const std::vector<PricedNode>& chosen,
                              const Machine& machine, Goal goal) {
  // A limit of the step is one for a single device too.
  if (machine.devices.size() < 2 && goal != Goal::kMemory) return nullptr;
  return [&machine, goal, seconds = SecondsByNode(graph, chosen)](Entry entry) {
    return PredictStep(machine, goal, seconds, std::move(entry));
  };
}

}  // namespace partita
