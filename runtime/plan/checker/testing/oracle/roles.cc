// Computes roles from the placements of operand and result.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/roles.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "graph/core_ops.h"
#include "runtime/plan/checker/testing/oracle/semantics.h"

namespace partita {
namespace {

struct DevicesAndSharding {
  std::vector<std::string> devices;
  Sharding sharding;
};

DevicesAndSharding OperandPlacement(const OpView& node) {
  const Graph& graph = node.graph();
  const Value& value = graph.value(node.node().operands[0]);
  const bool made = value.defining_node.valid();
  const Placement& at = made ? graph.node(value.defining_node).placement
                             : graph.input_placement(value.index);
  const size_t result = made ? value.index : 0;
  DevicesAndSharding placement{{at.devices.begin(), at.devices.end()}, {}};
  if (placement.devices.size() > 1 && result < at.results.size()) {
    placement.sharding = at.results[result];
  }
  return placement;
}

// The result has the sharding of the operand, on other devices.
bool OnlyMoves(const OpView& node) {
  if (!node.is(kCopy) || node.node().placement.devices.size() < 2) return false;
  const Sharding wanted = ResultValueSharding(node.node(), 0).sharding;
  return wanted == OperandValueSharding(node.node(), 0).sharding &&
         wanted == OperandPlacement(node).sharding;
}

bool ComesFromOne(const OpView& node) {
  return OnlyMoves(node) && OperandPlacement(node).devices.size() == 1;
}

}  // namespace

bool ForwardsShards(const OpView& node) {
  if (!OnlyMoves(node) || ResultValueSharding(node.node(), 0).sharding.kind !=
                              Sharding::Kind::kSplit) {
    return false;
  }
  const std::vector<std::string> from = OperandPlacement(node).devices;
  const auto& to = node.node().placement.devices;
  bool all_leave = from.size() == to.size();
  for (size_t i = 0; all_leave && i < from.size(); ++i) {
    all_leave = from[i] != to[i];
  }
  return all_leave;
}

bool Reaches(const OpView& node, int given, int handed) {
  const std::vector<Role> roles = RolesIn(node);
  for (int value = 0; value < node.num_operands(); ++value) {
    const TensorType type = node.operand_type(value).RowMajor();
    ValueSharding from = OperandValueSharding(node.node(), value);
    from.ranks = static_cast<int>(
        std::count_if(roles.begin(), roles.end(),
                      [](const Role& role) { return role.sends >= 0; }));
    const std::vector<int64_t> there = OffsetsInWhole(type, from, given);
    const std::vector<int64_t> here =
        OffsetsInWhole(type, ResultValueSharding(node.node(), value), handed);
    std::vector<int64_t> both;
    std::set_intersection(there.begin(), there.end(), here.begin(), here.end(),
                          std::back_inserter(both));
    if (!both.empty()) return true;
  }
  return false;
}

std::vector<Role> RolesIn(const OpView& node) {
  const auto& devices = node.node().placement.devices;
  const bool rooted = ComesFromOne(node);
  const bool moves = rooted || ForwardsShards(node);
  std::vector<Role> roles;
  for (int i = 0; i < static_cast<int>(devices.size()); ++i) {
    roles.push_back({moves ? -1 : i, i});
  }
  if (!moves) return roles;
  const std::vector<std::string> holders = OperandPlacement(node).devices;
  for (int i = 0; i < static_cast<int>(holders.size()); ++i) {
    const size_t rank =
        std::find(devices.begin(), devices.end(), holders[i]) - devices.begin();
    if (rank == devices.size()) {
      roles.push_back({i, -1});
    } else {
      roles[rank].sends = i;
      if (rooted) roles[rank].receives = -1;
    }
  }
  return roles;
}

}  // namespace partita
