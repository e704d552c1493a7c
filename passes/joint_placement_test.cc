// Tests which nodes may become one.
// SPDX-License-Identifier: Apache-2.0

#include "passes/joint_placement.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

Node NodeIn(std::vector<int> groups, const std::string& device = "") {
  Node node;
  node.placement.groups = std::move(groups);
  if (!device.empty()) node.placement.devices = {device};
  return node;
}

TEST(JointPlacementTest, NodesOfDifferentGroupsStayApart) {
  JointPlacement joint;
  EXPECT_TRUE(joint.Admit(NodeIn({})));
  EXPECT_TRUE(joint.Admit(NodeIn({1})));
  EXPECT_FALSE(joint.Admit(NodeIn({2})));
  EXPECT_FALSE(joint.Admit(NodeIn({1, 2})));
  EXPECT_TRUE(joint.Admit(NodeIn({1})));
  EXPECT_TRUE(joint.Admit(NodeIn({})));
  EXPECT_EQ(joint.get().groups, std::vector<int>{1});
}

// A node that is refused changes nothing.
TEST(JointPlacementTest, PinAndGroupMayComeFromDifferentNodes) {
  JointPlacement joint;
  EXPECT_TRUE(joint.Admit(NodeIn({3})));
  EXPECT_FALSE(joint.Admit(NodeIn({4}, "cpu:1")));
  EXPECT_TRUE(joint.Admit(NodeIn({}, "cpu:0")));
  EXPECT_FALSE(joint.Admit(NodeIn({}, "cpu:1")));
  EXPECT_TRUE(joint.Admit(NodeIn({})));
  EXPECT_EQ(joint.get().devices[0], "cpu:0");
  EXPECT_EQ(joint.get().groups, std::vector<int>{3});
}

TEST(JointPlacementTest, AShardedNodeTakesOnlyNodesOfItsSharding) {
  Node split = NodeIn({}, "cpu:0");
  split.placement.devices.push_back("cpu:1");
  split.placement.results = {{.kind = Sharding::Kind::kSplit}};
  JointPlacement joint;
  EXPECT_TRUE(joint.Admit(split));
  EXPECT_FALSE(joint.Admit(NodeIn({})));
  split.placement.groups = {1};
  EXPECT_TRUE(joint.Admit(split));
  EXPECT_EQ(joint.get().groups, std::vector<int>{1});
}

}  // namespace
}  // namespace partita
