// Roles from where the operand lies and where the result is wanted.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/oracle/roles.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "graph/core_ops.h"
#include "runtime/plan/checker/oracle/semantics.h"

namespace partita {
namespace {

struct Lying {
  std::vector<std::string> devices;
  Sharding sharding;
};

Lying WhereOperandLies(const OpView& node) {
  const Graph& graph = node.graph();
  const Value& value = graph.value(node.node().operands[0]);
  const bool made = value.defining_node.valid();
  const Placement& at = made ? graph.node(value.defining_node).placement
                             : graph.input_placement(value.index);
  const size_t result = made ? value.index : 0;
  Lying lying{{at.devices.begin(), at.devices.end()}, {}};
  if (lying.devices.size() > 1 && result < at.results.size()) {
    lying.sharding = at.results[result];
  }
  return lying;
}

// Asked for as it lies, though on other devices.
bool OnlyMoves(const OpView& node) {
  if (!node.is(kCopy) || node.node().placement.devices.size() < 2) return false;
  const Sharding wanted = ResultDivision(node.node(), 0).sharding;
  return wanted == OperandDivision(node.node(), 0).sharding &&
         wanted == WhereOperandLies(node).sharding;
}

bool ComesFromOne(const OpView& node) {
  return OnlyMoves(node) && WhereOperandLies(node).devices.size() == 1;
}

}  // namespace

bool HandsPiecesOn(const OpView& node) {
  if (!OnlyMoves(node) ||
      ResultDivision(node.node(), 0).sharding.kind != Sharding::Kind::kSplit) {
    return false;
  }
  const std::vector<std::string> from = WhereOperandLies(node).devices;
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
    const TensorType& type = node.operand_type(value);
    Division from = OperandDivision(node.node(), value);
    from.members = static_cast<int>(
        std::count_if(roles.begin(), roles.end(),
                      [](const Role& role) { return role.hands_over >= 0; }));
    const std::vector<int64_t> there = PlacesInWhole(type, from, given);
    const std::vector<int64_t> here =
        PlacesInWhole(type, ResultDivision(node.node(), value), handed);
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
  const bool moves = rooted || HandsPiecesOn(node);
  std::vector<Role> roles;
  for (int i = 0; i < static_cast<int>(devices.size()); ++i) {
    roles.push_back({moves ? -1 : i, i});
  }
  if (!moves) return roles;
  const std::vector<std::string> holders = WhereOperandLies(node).devices;
  for (int i = 0; i < static_cast<int>(holders.size()); ++i) {
    const size_t member =
        std::find(devices.begin(), devices.end(), holders[i]) - devices.begin();
    if (member == devices.size()) {
      roles.push_back({i, -1});
    } else {
      roles[member].hands_over = i;
      if (rooted) roles[member].is_handed = -1;
    }
  }
  return roles;
}

}  // namespace partita
