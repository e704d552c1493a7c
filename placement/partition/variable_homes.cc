// Reads and writes placements of variable nodes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/variable_homes.h"

#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// The weight of a function: the heaviest decides first.
std::pair<bool, double> WeightOf(const Graph& function) {
  double flops = 0;
  for (const OpView& op : function.ops()) {
    if (op.op().cost != nullptr) flops += op.op().cost(op).flops;
  }
  return {!function.updates().empty(), flops};
}

}  // namespace

VariableHomes HomesToDecide(const Module& module) {
  VariableHomes homes;
  for (const auto& function : module.functions()) {
    for (const VariableUpdate& update : function->updates()) {
      homes[update.variable];
    }
  }
  return homes;
}

std::vector<int> DecidingOrder(const Module& module) {
  std::vector<std::pair<bool, double>> weights;
  for (const auto& function : module.functions()) {
    weights.push_back(WeightOf(*function));
  }
  std::vector<int> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  absl::c_stable_sort(order,
                      [&](int a, int b) { return weights[a] > weights[b]; });
  return order;
}

bool WriteHomes(const VariableHomes& homes, Graph& function) {
  bool any = false;
  for (const OpView& op : function.ops(kVariable)) {
    const auto home = homes.find(std::string(op.attr_string("name")));
    if (home == homes.end() || !home->second.placed()) continue;
    function.node(op.id()).placement = home->second;
    any = true;
  }
  return any;
}

void DecideHomes(const Graph& function, VariableHomes& homes) {
  for (const OpView& op : function.ops(kVariable)) {
    const auto home = homes.find(std::string(op.attr_string("name")));
    if (home != homes.end()) home->second = op.node().placement;
  }
}

}  // namespace partita
