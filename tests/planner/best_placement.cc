// Counts through all placements like a number with a digit for each node.
// SPDX-License-Identifier: Apache-2.0

#include "tests/planner/best_placement.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/device_traits.h"

namespace partita {
namespace {

std::vector<std::string> DevicesOfKind(const Machine& machine,
                                       DeviceKind kind) {
  std::vector<std::string> names;
  for (const MachineDevice& device : machine.devices) {
    if (device.traits.kind == kind) names.push_back(device.traits.name);
  }
  return names;
}

// Pins without patterns.
std::vector<Pin> PlacesOf(const Machine& machine, NodePlaces places) {
  std::vector<Pin> list;
  for (const MachineDevice& device : machine.devices) {
    list.push_back({.devices = {device.traits.name}});
  }
  if (places == NodePlaces::kWhole) return list;
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    const std::vector<std::string> devices = DevicesOfKind(machine, kind);
    if (devices.size() < 2) continue;
    for (int dim : {-1, 0, 1}) list.push_back({.devices = devices, .dim = dim});
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

TriedPlacements TryAllPlacements(const PlacementProblem& problem,
                                 NodePlaces places) {
  const std::vector<Pin> list = PlacesOf(problem.machine, places);
  std::vector<size_t> digits(problem.nodes.size(), 0);
  TriedPlacements result;
  do {
    CompileOptions options;
    options.strategy = "pinned";
    options.remedies = false;
    for (size_t i = 0; i < digits.size(); ++i) {
      options.pins.push_back(list[digits[i]]);
      options.pins.back().pattern = problem.nodes[i];
    }
    ++result.tried;
    const std::optional<double> step = StepOf(problem, options);
    if (!step.has_value()) continue;
    ++result.lowered;
    if (result.best_seconds.has_value() && *result.best_seconds <= *step) {
      continue;
    }
    result.best_seconds = step;
    result.best = std::move(options.pins);
  } while (Increase(digits, list.size()));
  return result;
}

std::string PinsText(const std::vector<Pin>& pins) {
  return absl::StrJoin(pins, " ", [](std::string* text, const Pin& pin) {
    absl::StrAppend(text, pin.pattern, "=", absl::StrJoin(pin.devices, ","));
    if (pin.dim >= 0) absl::StrAppend(text, "/split", pin.dim);
  });
}

}  // namespace partita
