// Counts through all placements like a number with a digit for each node.
// SPDX-License-Identifier: Apache-2.0

#include "tests/planner/best_placement.h"

#include <string>
#include <utility>
#include <vector>

namespace partita {
namespace {

// A pin without its pattern.
struct NodePlace {
  std::vector<std::string> devices;
  int dim = -1;
};

std::vector<std::string> DevicesOfKind(const Machine& machine,
                                       DeviceKind kind) {
  std::vector<std::string> names;
  for (const MachineDevice& device : machine.devices) {
    if (device.traits.kind == kind) names.push_back(device.traits.name);
  }
  return names;
}

std::vector<NodePlace> PlacesOf(const Machine& machine, NodePlaces places) {
  std::vector<NodePlace> list;
  for (const MachineDevice& device : machine.devices) {
    list.push_back({{device.traits.name}});
  }
  if (places == NodePlaces::kWhole) return list;
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    const std::vector<std::string> devices = DevicesOfKind(machine, kind);
    if (devices.size() < 2) continue;
    for (int dim : {-1, 0, 1}) list.push_back({devices, dim});
  }
  return list;
}

// The next number; false after the last.
bool Increase(std::vector<size_t>& digits, size_t base) {
  for (size_t& digit : digits) {
    if (++digit < base) return true;
    digit = 0;
  }
  return false;
}

}  // namespace

std::optional<double> StepOf(const PlacementProblem& problem,
                             const CompileOptions& options) {
  const absl::StatusOr<Compiled> predicted =
      Predict(problem.module.Clone(), problem.machine, options);
  if (!predicted.ok()) return std::nullopt;
  return predicted->report.entries[0].step_seconds;
}

std::optional<double> BestStep(const PlacementProblem& problem,
                               NodePlaces places) {
  const std::vector<NodePlace> list = PlacesOf(problem.machine, places);
  std::vector<size_t> digits(problem.nodes.size(), 0);
  std::optional<double> best;
  do {
    CompileOptions options;
    options.strategy = "pinned";
    for (size_t i = 0; i < digits.size(); ++i) {
      const NodePlace& place = list[digits[i]];
      options.pins.push_back({problem.nodes[i], place.devices, place.dim});
    }
    const std::optional<double> step = StepOf(problem, options);
    if (step.has_value() && (!best.has_value() || *step < *best)) best = step;
  } while (Increase(digits, list.size()));
  return best;
}

}  // namespace partita
