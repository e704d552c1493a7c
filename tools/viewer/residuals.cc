// Sums both times by node, then by op.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/residuals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"

namespace partita {
namespace {

template <typename List>
void SortByDistance(List& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::abs(a.measured - a.predicted) >
           std::abs(b.measured - b.predicted);
  });
}

constexpr double kLeastOfStep = 0.1;
constexpr double kLeastOfPrediction = 0.5;

// Seconds on each of its devices, which run it at the same time.
double DifferenceOf(const OpResidual& op) {
  return std::abs(op.measured - op.predicted) / op.devices;
}

bool IsFar(const OpResidual& op, double step_seconds) {
  return op.predicted > 0 && DifferenceOf(op) >= kLeastOfStep * step_seconds &&
         DifferenceOf(op) * op.devices >= kLeastOfPrediction * op.predicted;
}

// The node of the op with the largest difference.
int LongestOf(const ViewedEntry& entry, const Residuals& residuals,
              const std::string& op) {
  for (const NodeResidual& node : residuals.nodes) {
    if (entry.boxes[node.box].op == op) return node.box;
  }
  return -1;
}

}  // namespace

Residuals ResidualsOf(const ViewedEntry& entry, const MeasuredTrace& trace) {
  Residuals residuals;
  if (!entry.timed) return residuals;
  std::map<std::string, OpResidual> ops;
  std::map<std::string, std::set<int>> devices;
  for (size_t b = 0; b < entry.boxes.size(); ++b) {
    const BoxView& box = entry.boxes[b];
    NodeResidual node{static_cast<int>(b)};
    bool computes = false;
    for (CommandId c : box.commands) {
      const CommandView& command = entry.commands[c];
      if (command.kind != "kernel") continue;
      computes = true;
      devices[box.op].insert(entry.streams[command.stream].device);
      node.predicted += command.end - command.start;
      node.measured += trace.commands[c].second - trace.commands[c].first;
    }
    if (!computes) continue;
    residuals.nodes.push_back(node);
    OpResidual& op = ops[box.op];
    op.op = box.op;
    ++op.nodes;
    op.predicted += node.predicted;
    op.measured += node.measured;
  }
  for (auto& [name, op] : ops) {
    op.devices = static_cast<int>(devices[name].size());
    residuals.ops.push_back(std::move(op));
  }
  SortByDistance(residuals.nodes);
  SortByDistance(residuals.ops);
  return residuals;
}

void AddResidualFinding(const MeasuredTrace& trace, PlanView& view) {
  if (!trace.emulated.empty()) return;
  ViewedEntry& entry = view.entries[trace.entry];
  const Residuals residuals = ResidualsOf(entry, trace);
  if (trace.end <= 0) return;
  const auto op = std::find_if(
      residuals.ops.begin(), residuals.ops.end(),
      [&](const OpResidual& other) { return IsFar(other, trace.end); });
  if (op == residuals.ops.end()) return;
  FindingView finding;
  finding.text = absl::StrFormat(
      "%s takes %.0f %% of the measured step in %d %s%s, %.3g times its "
      "prediction",
      op->op, 100 * op->measured / op->devices / trace.end, op->nodes,
      op->nodes == 1 ? "node" : "nodes",
      op->devices == 1
          ? ""
          : absl::StrFormat(", averaged over %d devices", op->devices),
      op->measured / op->predicted);
  // The axis of findings is the predicted step.
  finding.seconds = DifferenceOf(*op) / trace.end * entry.end;
  finding.box = LongestOf(entry, residuals, op->op);
  const auto place = std::find_if(entry.findings.begin(), entry.findings.end(),
                                  [&](const FindingView& other) {
                                    return other.seconds < finding.seconds;
                                  });
  entry.findings.insert(place, std::move(finding));
}

}  // namespace partita
