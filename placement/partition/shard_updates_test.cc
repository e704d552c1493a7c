// Which updates are sharded, and which variables are stored as shards.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/shard_updates.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/sharding_text.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/partition/shard_batch.h"

namespace partita {
namespace {

// A weight's gradient from a batch of 4, and an update with momentum.
constexpr char kMomentum[] = R"(
variable @w: f32[2, 3] trainable = f32[2, 3] [1, 2, 3, 4, 5, 6]
variable @m: f32[2, 3] = f32[2, 3] [0, 0, 0, 0, 0, 0]

graph @f(%x: f32[4, 2], %d: f32[4, 3]) -> f32[4, 3] {
  %w = variable {dtype = f32, name = "w", shape = [2, 3]} : f32[2, 3]
  %m = variable {dtype = f32, name = "m", shape = [2, 3]} : f32[2, 3]
  %y = matmul %x, %w : f32[4, 3]
  %e = sub %y, %d : f32[4, 3]
  %xt = transpose %x {perm = [1, 0]} : f32[2, 4]
  %g = matmul %xt, %e : f32[2, 3]
  %n = add %m, %g : f32[2, 3]
  %v = sub %w, %n : f32[2, 3]
  update @m = %n
  update @w = %v
  return %e
}
)";

std::string ShardingsText(const std::vector<Sharding>& shardings) {
  std::vector<std::string> texts;
  for (const Sharding& sharding : shardings) {
    texts.push_back(ShardingText(sharding));
  }
  return absl::StrCat("(", absl::StrJoin(texts, ", "), ")");
}

// The sharded variables and the sharded nodes after the sum %g, one a line.
// `whole` names a node that must stay whole.
std::string Sharded(const std::string& text, int64_t least_bytes,
                    const std::string& whole = "") {
  absl::StatusOr<Module> module =
      ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const Graph& graph = module->main();
  std::vector<bool> is_whole(graph.node_id_bound());
  for (const OpView& op : graph.ops()) {
    is_whole[op.id().index] = op.result(0).name() == whole;
  }
  BatchSharding sharding =
      ShardBatch(graph, FindBatch(graph), {"a", "b"}, is_whole);
  ShardUpdates(graph, {"a", "b"}, is_whole, least_bytes, sharding);
  std::string lines;
  bool after_sum = false;
  for (const OpView& op : graph.ops()) {
    const Placement& sharded = sharding.nodes[op.id()];
    const std::string name(op.result(0).name());
    if (sharded.placed() && (after_sum || op.is(kVariable))) {
      absl::StrAppend(&lines, name, " ", ShardingsText(sharded.operands),
                      " -> ", ShardingsText(sharded.results), "\n");
    }
    after_sum |= name == "g";
  }
  return lines;
}

std::string With(const char* from, const char* to) {
  return absl::StrReplaceAll(kMomentum, {{from, to}});
}

TEST(ShardUpdates, ASumIsScatteredAndItsStateIsSharded) {
  EXPECT_EQ(Sharded(kMomentum, 24),
            "m () -> (split 0)\n"
            "n (split 0, split 0) -> (split 0)\n"
            "v (split 0, split 0) -> (split 0)\n");
}

TEST(ShardUpdates, SmallSumsStayWhole) {
  EXPECT_EQ(Sharded(kMomentum, 25), "");
}

TEST(ShardUpdates, FewerRowsThanRanksStayWhole) {
  EXPECT_EQ(Sharded(absl::StrReplaceAll(kMomentum, {{"[2, 3]", "[1, 3]"},
                                                    {", 4, 5, 6]", "]"},
                                                    {", 0, 0, 0]", "]"},
                                                    {"[4, 2]", "[4, 1]"},
                                                    {"[2, 4]", "[1, 4]"}}),
                    0),
            "");
}

TEST(ShardUpdates, ASumThatTheStepReturnsStaysWhole) {
  EXPECT_EQ(Sharded(absl::StrReplaceAll(kMomentum,
                                        {{"-> f32[4, 3] {", "-> f32[2, 3] {"},
                                         {"return %e", "return %g"}}),
                    0),
            "");
  // Also if the step returns a value that is made from it.
  EXPECT_EQ(Sharded(absl::StrReplaceAll(kMomentum,
                                        {{"-> f32[4, 3] {", "-> f32[2, 3] {"},
                                         {"return %e", "return %n"}}),
                    0),
            "");
}

TEST(ShardUpdates, AReaderThatMustBeWholeKeepsTheSumWhole) {
  EXPECT_EQ(Sharded(kMomentum, 0, "n"), "");
  // A later reader does not: its operand is gathered.
  EXPECT_EQ(Sharded(kMomentum, 0, "v"),
            "m () -> (split 0)\n"
            "n (split 0, split 0) -> (split 0)\n");
}

TEST(ShardUpdates, ShardsOfATransposeAreNoIntervals) {
  EXPECT_EQ(Sharded(absl::StrReplaceAll(
                        kMomentum,
                        {{"%n = add %m, %g",
                          "%t = transpose %g {perm = [1, 0]} : f32[3, 2]\n"
                          "  %r = reshape %t {shape = [2, 3]} : f32[2, 3]\n"
                          "  %n = add %m, %r"}}),
                    0),
            "");
}

// A sum over all elements is the sum of the shards' sums.
TEST(ShardUpdates, ANormIsSummedInShards) {
  EXPECT_EQ(Sharded(With("%n = add %m, %g",
                         "%s = mul %g, %g : f32[2, 3]\n"
                         "  %q = reduce_sum %s {axes = [0, 1], keep_dims = "
                         "false} : f32[]\n"
                         "  %c = div %g, %q : f32[2, 3]\n"
                         "  %n = add %m, %c"),
                    0),
            "m () -> (split 0)\n"
            "s (split 0, split 0) -> (split 0)\n"
            "q (split 0) -> (partial sum)\n"
            "c (split 0, replicated) -> (split 0)\n"
            "n (split 0, split 0) -> (split 0)\n"
            "v (split 0, split 0) -> (split 0)\n");
}

}  // namespace
}  // namespace partita
