// Pairs of nodes, by name and by what they compute.
// SPDX-License-Identifier: Apache-2.0

#include "partita/node_matches.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"

namespace partita {
namespace {

Module Parsed(const std::string& body) {
  auto module =
      ParseModule(absl::StrCat("graph @f(%x: f32[4], %z: f32[4]) -> f32[4] {\n",
                               body, "}\n"),
                  "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// "relu = relu; 0 = 1" in the order of the first graph, each node by the name
// of its op.
std::string PairsText(const Module& a, const Module& b) {
  const NodeMatches matches = MatchNodes(a.main(), b.main());
  const std::vector<NodeId> order_a = a.main().order();
  const std::vector<NodeId> order_b = b.main().order();
  const auto at = [](const std::vector<NodeId>& order, NodeId node) {
    size_t i = 0;
    while (order[i] != node) ++i;
    return i;
  };
  std::string text;
  for (const NodePair& pair : matches.pairs) {
    absl::StrAppend(&text, at(order_a, pair.a), "=", at(order_b, pair.b), " ");
  }
  for (NodeId node : matches.only_a) {
    absl::StrAppend(&text, at(order_a, node), "-only-a ");
  }
  for (NodeId node : matches.only_b) {
    absl::StrAppend(&text, at(order_b, node), "-only-b ");
  }
  return text;
}

TEST(MatchNodesTest, NodesWithOneNameArePairsInAnyOrder) {
  const Module a = Parsed(
      "  %a = relu %x : f32[4]\n  %b = exp %z : f32[4]\n"
      "  %c = add %a, %b : f32[4]\n  return %c\n");
  const Module b = Parsed(
      "  %b = exp %z : f32[4]\n  %a = relu %x : f32[4]\n"
      "  %c = add %a, %b : f32[4]\n  return %c\n");
  EXPECT_EQ(PairsText(a, b), "0=1 1=0 2=2 ");
}

TEST(MatchNodesTest, UnnamedNodesArePairsIfTheyComputeTheSameFromTheSame) {
  const Module a = Parsed(
      "  %0 = relu %x : f32[4]\n  %1 = relu %z : f32[4]\n"
      "  %2 = sub %0, %1 : f32[4]\n  return %2\n");
  // The same in another order.
  const Module b = Parsed(
      "  %0 = relu %z : f32[4]\n  %1 = relu %x : f32[4]\n"
      "  %2 = sub %1, %0 : f32[4]\n  return %2\n");
  EXPECT_EQ(PairsText(a, b), "0=1 1=0 2=2 ");
  // The difference of the same values in the other order is another one.
  const Module c = Parsed(
      "  %0 = relu %x : f32[4]\n  %1 = relu %z : f32[4]\n"
      "  %2 = sub %1, %0 : f32[4]\n  return %2\n");
  EXPECT_EQ(PairsText(a, c), "0=0 1=1 2-only-a 2-only-b ");
}

TEST(MatchNodesTest, EqualNodesArePairedInOrder) {
  const std::string body =
      "  %0 = relu %x : f32[4]\n  %1 = relu %x : f32[4]\n"
      "  %2 = add %0, %1 : f32[4]\n  return %2\n";
  EXPECT_EQ(PairsText(Parsed(body), Parsed(body)), "0=0 1=1 2=2 ");
}

TEST(MatchNodesTest, InsertedCopiesAndConstantsDoNotCount) {
  const Module a =
      Parsed("  %0 = relu %x : f32[4]\n  %1 = exp %0 : f32[4]\n  return %1\n");
  const Module b = Parsed(
      "  %0 = relu %x : f32[4] on cpu:0\n"
      "  %1 = copy %0 : f32[4] on cpu:1\n"
      "  %2 = exp %1 : f32[4] on cpu:1\n  return %2\n");
  EXPECT_EQ(PairsText(a, b), "0=0 1=2 ");
}

TEST(MatchNodesTest, ANameWithAnotherTypeIsAnotherNode) {
  const Module a = Parsed(
      "  %a = reduce_sum %x {axes = [0], keep_dims = true} : f32[1]\n"
      "  %c = add %z, %a : f32[4]\n  return %c\n");
  const Module b = Parsed(
      "  %a = relu %x : f32[4]\n  %c = add %z, %a : f32[4]\n  return %c\n");
  EXPECT_EQ(PairsText(a, b), "1=1 0-only-a 0-only-b ");
}

// Another choice of what to fuse keeps the name of the last value.
TEST(MatchNodesTest, AFusedNodeIsThePairOfItsLastNode) {
  const Module a = Parsed(
      "  %h = fused %x @body(%x: f32[4]) {\n    %a = exp %x : f32[4]\n"
      "    %h = relu %a : f32[4]\n    return %h\n  } : f32[4]\n"
      "  %0 = neg %h : f32[4]\n  return %0\n");
  const Module b = Parsed(
      "  %a = exp %x : f32[4]\n  %h = relu %a : f32[4]\n"
      "  %0 = neg %h : f32[4]\n  return %0\n");
  EXPECT_EQ(PairsText(a, b), "0=1 1=2 0-only-b ");
}

}  // namespace
}  // namespace partita
