// Compares pins.
// SPDX-License-Identifier: Apache-2.0

#include "passes/joint_placement.h"

namespace partita {

bool JointPlacement::Admit(const Node& node) {
  const Placement& pin = node.placement;
  if (!placement_.has_value()) placement_ = pin;
  if (*placement_ == pin) return true;
  if (is_sharded() || !pin.results.empty()) return false;
  if (!placement_->placed()) placement_ = pin;
  return !pin.placed() || *placement_ == pin;
}

const Placement& JointPlacement::get() const {
  static const Placement& none = *new Placement;
  return placement_.has_value() ? *placement_ : none;
}

}  // namespace partita
