// Tests of rules about devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/device_rules.h"

#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

using Kind = DeviceRule::Kind;
using Devices = std::vector<MachineDeviceId>;

const MachineDeviceId kFirst(0);
const MachineDeviceId kSecond(1);
const MachineDeviceId kThird(2);

DeviceRule Equal(int a, int b) {
  return {.kind = Kind::kEqual, .groups = {{a, b}}};
}
DeviceRule Different(int a, int b) {
  return {.kind = Kind::kDifferent, .groups = {{a}, {b}}};
}
DeviceRule Among(int a, Devices devices) {
  return {.kind = Kind::kAmong, .groups = {{a}}, .devices = devices};
}
DeviceRule AtMost(int most) { return {.kind = Kind::kAtMost, .most = most}; }

// Variables that may have each of three devices.
DeviceProblem ProblemOf(int variables, std::vector<DeviceRule> rules) {
  const Devices all = {kFirst, kSecond, kThird};
  return {std::vector<Devices>(variables, all), rules};
}

Devices Solve(const DeviceProblem& problem) {
  const DeviceSolution solution = SolveDevices(problem);
  EXPECT_TRUE(solution.exists);
  return solution.devices;
}

TEST(DeviceRulesTest, AVariableHasItsPreferredDevice) {
  EXPECT_EQ(Solve(ProblemOf(2, {})), (Devices{kFirst, kFirst}));
  EXPECT_EQ(Solve(ProblemOf(2, {Different(0, 1)})), (Devices{kFirst, kSecond}));
}

TEST(DeviceRulesTest, EqualVariablesHaveOneDevice) {
  EXPECT_EQ(Solve(ProblemOf(3, {Equal(0, 1), Equal(1, 2), Among(2, {kThird})})),
            (Devices{kThird, kThird, kThird}));
}

// The preferred device of the first variable leaves one for the other two.
TEST(DeviceRulesTest, AChoiceIsTakenBack) {
  const DeviceProblem problem{
      {{kFirst, kSecond}, {kFirst, kThird}, {kFirst, kThird}},
      {Different(0, 1), Different(0, 2), Different(1, 2)}};
  EXPECT_EQ(Solve(problem), (Devices{kSecond, kFirst, kThird}));
}

TEST(DeviceRulesTest, TheNumberOfDevicesIsLimited) {
  const std::vector<DeviceRule> rules = {Different(0, 1), Different(1, 2),
                                         AtMost(2)};
  EXPECT_EQ(Solve(ProblemOf(3, rules)), (Devices{kFirst, kSecond, kFirst}));
}

TEST(DeviceRulesTest, TheSmallestContradictionIsFound) {
  // All can be met.
  EXPECT_EQ(SmallestContradiction(ProblemOf(2, {Different(0, 1), AtMost(2)})),
            (std::vector<int>{}));
  // One rule.
  EXPECT_EQ(SmallestContradiction(
                ProblemOf(2, {Equal(0, 1), AtMost(1), Different(1, 1)})),
            (std::vector<int>{2}));
  // Two of three.
  EXPECT_EQ(SmallestContradiction(
                ProblemOf(3, {Equal(1, 2), Different(0, 1), AtMost(1)})),
            (std::vector<int>{1, 2}));
  // Three of four: they say that equal variables differ.
  EXPECT_EQ(SmallestContradiction(ProblemOf(
                4, {Equal(2, 3), Equal(0, 1), Equal(1, 2), Different(0, 2)})),
            (std::vector<int>{1, 2, 3}));
}

// Four variables that all differ, on three devices: no rule can be left out.
TEST(DeviceRulesTest, ALargeContradictionHasNoRuleTooMany) {
  const DeviceProblem problem = ProblemOf(
      5, {Different(0, 1), Different(0, 2), Different(0, 3), Different(1, 2),
          Different(1, 3), Different(2, 3), Different(3, 4)});
  EXPECT_EQ(SmallestContradiction(problem),
            (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace partita
