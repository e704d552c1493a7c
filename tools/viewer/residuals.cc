// Sums both times by node, then by op.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/residuals.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace partita {
namespace {

template <typename List>
void SortByDistance(List& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::abs(a.measured - a.predicted) >
           std::abs(b.measured - b.predicted);
  });
}

}  // namespace

Residuals ResidualsOf(const ViewedEntry& entry, const MeasuredTrace& trace) {
  Residuals residuals;
  if (!entry.timed) return residuals;
  std::map<std::string, OpResidual> ops;
  for (size_t b = 0; b < entry.boxes.size(); ++b) {
    const BoxView& box = entry.boxes[b];
    NodeResidual node{static_cast<int>(b)};
    bool computes = false;
    for (CommandId c : box.commands) {
      const CommandView& command = entry.commands[c];
      if (command.kind != "kernel") continue;
      computes = true;
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
  for (auto& [name, op] : ops) residuals.ops.push_back(std::move(op));
  SortByDistance(residuals.nodes);
  SortByDistance(residuals.ops);
  return residuals;
}

}  // namespace partita
