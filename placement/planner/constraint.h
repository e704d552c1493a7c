// What users ask of devices beside pins.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_CONSTRAINT_H_
#define PARTITA_PLACEMENT_PLANNER_CONSTRAINT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace partita {

// Patterns name nodes by scope or result, as pins do (pins.h).
struct Constraint {
  enum class Kind : uint8_t {
    kTogether,  // all nodes of all patterns compute on the same devices
    kApart,     // nodes of different patterns compute on different devices
  };
  Kind kind = Kind::kTogether;
  std::vector<std::string> patterns;
};

// "together a,b".
std::string ConstraintText(const Constraint& constraint);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_CONSTRAINT_H_
