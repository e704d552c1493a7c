// Rules about the devices of variables, and whether they can all be met.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_DEVICE_RULES_H_
#define PARTITA_PLACEMENT_PLANNER_DEVICE_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ids.h"
#include "placement/machine/machine.h"

namespace partita {

struct DeviceRule {
  enum class Kind : uint8_t {
    kEqual,      // all variables of all groups have one device
    kDifferent,  // variables of different groups have different devices
    kAmong,      // variables of all groups have one of `devices`
    kAtMost,     // all variables together have at most `most` devices
  };
  Kind kind = Kind::kEqual;
  std::vector<std::vector<int>> groups = {};
  std::vector<MachineDeviceId> devices = {};
  int most = 0;
  std::string text = "";  // names the rule in errors
};

struct DeviceProblem {
  // By variable: the devices that it may have, the preferred one first.
  std::vector<std::vector<MachineDeviceId>> allowed;
  std::vector<DeviceRule> rules;
};

struct DeviceSolution {
  bool exists = false;
  // False: the steps were used up, and there may be one.
  bool is_complete = true;
  std::vector<MachineDeviceId> devices;  // by variable
};

inline constexpr int kMostDeviceSteps = 100'000;

// Backtracks over the variables, those with the fewest devices first. A
// variable has the first of its devices that leads to a solution.
DeviceSolution SolveDevices(const DeviceProblem& problem);

// The rules, by number, of a smallest set that cannot be met; empty if all can.
// Sets of up to three rules are tried by size; a larger set is one of which no
// rule can be left out.
std::vector<int> SmallestContradiction(const DeviceProblem& problem);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_DEVICE_RULES_H_
