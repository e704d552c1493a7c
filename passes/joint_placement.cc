// Compares pins and groups.
// SPDX-License-Identifier: Apache-2.0

#include "passes/joint_placement.h"

#include <utility>
#include <vector>

namespace partita {
namespace {

bool SamePin(const Placement& a, const Placement& b) {
  return a.devices == b.devices && a.operands == b.operands &&
         a.results == b.results;
}

bool AgreeOnPin(const Placement& a, const Placement& b) {
  if (SamePin(a, b)) return true;
  if (!a.results.empty() || !b.results.empty()) return false;
  return !a.placed() || !b.placed();
}

// With the groups of both, one node could be in two that must be apart.
bool AgreeOnGroups(const Placement& a, const Placement& b) {
  return a.groups.empty() || b.groups.empty() || a.groups == b.groups;
}

}  // namespace

bool JointPlacement::Admit(const Node& node) {
  const Placement& wanted = node.placement;
  if (!placement_.has_value()) placement_ = wanted;
  if (!AgreeOnPin(*placement_, wanted)) return false;
  if (!AgreeOnGroups(*placement_, wanted)) return false;
  std::vector<int> groups =
      placement_->groups.empty() ? wanted.groups : placement_->groups;
  if (!placement_->placed()) placement_ = wanted;
  placement_->groups = std::move(groups);
  return true;
}

const Placement& JointPlacement::get() const {
  static const Placement& none = *new Placement;
  return placement_.has_value() ? *placement_ : none;
}

}  // namespace partita
