// Tests of rules about devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/device_rules.h"

#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

using Kind = DeviceRule::Kind;
using Sets = std::vector<DeviceSet>;

const DeviceSet kFirst = {MachineDeviceId(0)};
const DeviceSet kSecond = {MachineDeviceId(1)};
const DeviceSet kThird = {MachineDeviceId(2)};
const DeviceSet kFirstTwo = {MachineDeviceId(0), MachineDeviceId(1)};
const DeviceSet kLastTwo = {MachineDeviceId(1), MachineDeviceId(2)};

DeviceRule Equal(int a, int b) {
  return {.kind = Kind::kEqual, .groups = {{a, b}}};
}
DeviceRule Different(int a, int b) {
  return {.kind = Kind::kDifferent, .groups = {{a}, {b}}};
}
DeviceRule Among(int a, Sets sets) {
  return {.kind = Kind::kAmong, .groups = {{a}}, .sets = sets};
}
DeviceRule AtMost(int most) { return {.kind = Kind::kAtMost, .most = most}; }

// Variables that may have each of three devices.
DeviceProblem ProblemOf(int variables, std::vector<DeviceRule> rules) {
  const Sets all = {kFirst, kSecond, kThird};
  return {std::vector<Sets>(variables, all), rules};
}

Sets Solve(const DeviceProblem& problem) {
  const DeviceSolution solution = SolveDevices(problem);
  EXPECT_TRUE(solution.exists);
  return solution.sets;
}

TEST(DeviceRulesTest, AVariableHasItsPreferredDevice) {
  EXPECT_EQ(Solve(ProblemOf(2, {})), (Sets{kFirst, kFirst}));
  EXPECT_EQ(Solve(ProblemOf(2, {Different(0, 1)})), (Sets{kFirst, kSecond}));
}

TEST(DeviceRulesTest, EqualVariablesHaveOneDevice) {
  EXPECT_EQ(Solve(ProblemOf(3, {Equal(0, 1), Equal(1, 2), Among(2, {kThird})})),
            (Sets{kThird, kThird, kThird}));
}

// The preferred device of the first variable leaves one for the other two.
TEST(DeviceRulesTest, AChoiceIsTakenBack) {
  const DeviceProblem problem{
      {{kFirst, kSecond}, {kFirst, kThird}, {kFirst, kThird}},
      {Different(0, 1), Different(0, 2), Different(1, 2)}};
  EXPECT_EQ(Solve(problem), (Sets{kSecond, kFirst, kThird}));
}

TEST(DeviceRulesTest, TheNumberOfDevicesIsLimited) {
  const std::vector<DeviceRule> rules = {Different(0, 1), Different(1, 2),
                                         AtMost(2)};
  EXPECT_EQ(Solve(ProblemOf(3, rules)), (Sets{kFirst, kSecond, kFirst}));
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

TEST(DeviceRulesTest, SetsOfSeveralDevicesDifferIfTheyHaveNoneInCommon) {
  const std::vector<DeviceRule> rules = {Different(0, 1)};
  EXPECT_EQ(Solve({{{kFirstTwo}, {kSecond, kThird}}, rules}),
            (Sets{kFirstTwo, kThird}));
  EXPECT_EQ(SmallestContradiction({{{kFirstTwo}, {kLastTwo}}, rules}),
            (std::vector<int>{0}));
}

TEST(DeviceRulesTest, EqualVariablesHaveTheSameSet) {
  EXPECT_EQ(Solve({{{kFirstTwo}, {kFirst, kFirstTwo}}, {Equal(0, 1)}}),
            (Sets{kFirstTwo, kFirstTwo}));
  EXPECT_EQ(SmallestContradiction({{{kFirstTwo}, {kLastTwo}}, {Equal(0, 1)}}),
            (std::vector<int>{0}));
}

TEST(DeviceRulesTest, EachDeviceOfASetCounts) {
  const DeviceProblem problem{{{kFirstTwo}, {kThird, kSecond}}, {AtMost(2)}};
  EXPECT_EQ(Solve(problem), (Sets{kFirstTwo, kSecond}));
  EXPECT_EQ(SmallestContradiction({problem.allowed, {AtMost(1)}}),
            (std::vector<int>{0}));
}

// Each node of a large graph may be a variable.
TEST(DeviceRulesTest, ManyVariablesAreSolved) {
  constexpr int kMany = 200'000;
  DeviceRule apart{.kind = Kind::kDifferent, .groups = {{}, {}}};
  for (int v = 0; v < kMany; ++v) apart.groups[v % 2].push_back(v);
  const Sets sets = Solve(ProblemOf(kMany, {apart, AtMost(2)}));
  ASSERT_EQ(sets.size(), kMany);
  for (int v = 0; v < kMany; ++v) {
    ASSERT_EQ(sets[v], v % 2 == 0 ? kFirst : kSecond);
  }
}

}  // namespace
}  // namespace partita
