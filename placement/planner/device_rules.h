// Rules about the devices of variables, and whether they can all be met.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_DEVICE_RULES_H_
#define PARTITA_PLACEMENT_PLANNER_DEVICE_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/ids.h"
#include "placement/machine/machine.h"

namespace partita {

// What a variable has: the devices of a node, ascending, at least one.
using DeviceSet = absl::InlinedVector<MachineDeviceId, 1>;

struct DeviceRule {
  enum class Kind : uint8_t {
    kEqual,      // all variables of all groups have the same devices
    kDifferent,  // variables of different groups have no device in common
    kAmong,      // variables of all groups have one of `sets`
    kAtMost,     // all variables together have at most `most` devices
  };
  Kind kind = Kind::kEqual;
  std::vector<std::vector<int>> groups = {};
  std::vector<DeviceSet> sets = {};
  int most = 0;
  std::string text = "";  // names the rule in errors
};

struct DeviceProblem {
  // By variable: what it may have, the preferred set first.
  std::vector<std::vector<DeviceSet>> allowed;
  std::vector<DeviceRule> rules;
};

struct DeviceSolution {
  bool exists = false;
  // False: the steps were used up, and there may be one.
  bool is_complete = true;
  std::vector<DeviceSet> sets;  // by variable
};

// Beside one for each set of each variable.
inline constexpr int64_t kMostDeviceSteps = 100'000;

// Backtracks over the variables, those with the fewest sets first. A variable
// has the first of its sets that leads to a solution. A step tries a set.
DeviceSolution SolveDevices(const DeviceProblem& problem);

// The rules, by number, of a smallest set that cannot be met; empty if all can.
// Sets of up to three rules are tried by size; a larger set is one of which no
// rule can be left out.
std::vector<int> SmallestContradiction(const DeviceProblem& problem);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_DEVICE_RULES_H_
