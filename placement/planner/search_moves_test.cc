// Tests of moves without which a climb is stuck, and of what they need.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_moves.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/graph.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/equal_blocks.h"
#include "placement/planner/flow.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/search_problem.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr int64_t kMemory = int64_t{1} << 40;

// The predicted step of a climb from the draft.
double Climbed(const SearchProblem& problem, std::optional<MoveKind> without,
               const ItemDraft& from) {
  return problem.Score(problem.ClimbWithout(without, from)).seconds;
}

// A chain of cheap nodes, read by two expensive ones.
struct CheapChain : SampleGraph {
  explicit CheapChain(int length) {
    ValueId a = Input("x", kLine);
    for (int i = 0; i < length; ++i) a = Work(absl::StrCat("a", i), {a}, kLine);
    Return({Work("b", {a}, kLine), Work("c", {a}, kLine)});
  }
};

Machine WithLatency(double seconds) {
  Machine machine = EqualCpus(2, kMemory);
  machine.links[0].latency = seconds;
  return machine;
}

SearchQuestion WithCheapChain() {
  SearchQuestion question;
  question.seconds = [](const std::string& name, const DeviceTraits&) {
    return name[0] == 'a' ? 0.1 : 10;
  };
  return question;
}

// Computing the chain on both devices takes 0.3 seconds, sending a value 5. A
// copy of one node of the chain, or of two, still waits for a transfer.
TEST(MovesTest, AChainIsComputedAgainInPlaceOfATransfer) {
  const CheapChain g(3);
  const SearchProblem problem(g, WithLatency(5), WithCheapChain());
  const ItemDraft start(5, kFirst);
  EXPECT_NEAR(Climbed(problem, MoveKind::kRecompute, start), 15.3, 0.01);
  EXPECT_NEAR(Climbed(problem, std::nullopt, start), 10.3, 0.01);
}

// The second device has the result of a1, so a0 stays where it is.
TEST(MovesTest, ARecomputedChainBeginsAtWhatTheDeviceHas) {
  const CheapChain g(4);
  const SearchProblem problem(g, WithLatency(5), WithCheapChain());
  const ItemDraft draft = {kFirst, kBoth, kFirst, kFirst, kSecond, kFirst};
  const std::vector<Move> moves =
      SearchMoves(problem.space()).OfKind(MoveKind::kRecompute, draft, 1000);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0], (Move{{3, kBoth}, {2, kBoth}}));
}

// A transfer inside a block takes longer than all blocks; one into or out of it
// takes nothing.
struct Blocks : SampleGraph {
  static constexpr int kBlocks = 6;
  static constexpr int64_t kLarge = int64_t{1} << 20;
  Blocks() {
    const ValueId x = Input("x", kLine);
    std::vector<ValueId> outputs;
    for (int i = 0; i < kBlocks; ++i) {
      const ValueId p = Work(absl::StrCat("p", i), {x}, kLarge);
      const ValueId q = Work(absl::StrCat("q", i), {p}, kLarge);
      outputs.push_back(Work(absl::StrCat("r", i), {q}, kLine));
    }
    Return(outputs);
  }
};

Machine WithSlowLink() {
  Machine machine = EqualCpus(2, kMemory);
  machine.links[0].bandwidth = 64 << 10;
  return machine;
}

TEST(MovesTest, BlocksMoveWhole) {
  const Blocks g;
  const SearchProblem problem(g, WithSlowLink());
  const ItemDraft start(3 * Blocks::kBlocks, kFirst);
  EXPECT_NEAR(Climbed(problem, MoveKind::kBlocks, start), 18, 0.1);
  EXPECT_NEAR(Climbed(problem, std::nullopt, start), 9, 0.1);
}

TEST(MovesTest, EqualBlocksAreFoundByFingerprints) {
  const Blocks g;
  const SearchProblem problem(g, WithSlowLink());
  const std::vector<EqualBlocks> blocks =
      FindEqualBlocks(problem.request(), problem.space().flow);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].first, 0);
  EXPECT_EQ(blocks[0].length, 3);
  EXPECT_EQ(blocks[0].count, Blocks::kBlocks);
}

// Both places that differ go to all other blocks in one move.
TEST(MovesTest, OneBlockIsTheModelOfTheOthers) {
  const Blocks g;
  const SearchProblem problem(g, WithSlowLink());
  ItemDraft draft(3 * Blocks::kBlocks, kFirst);
  draft[1] = kSecond;
  draft[2] = kSecond;
  Move like;
  for (int block = 1; block < Blocks::kBlocks; ++block) {
    like.emplace_back(3 * block + 1, kSecond);
    like.emplace_back(3 * block + 2, kSecond);
  }
  EXPECT_TRUE(absl::c_linear_search(
      SearchMoves(problem.space()).OfKind(MoveKind::kBlocks, draft, 1000),
      like));
}

// A large graph has more moves of borders alone.
TEST(MovesTest, FewMovesAreOfAllKinds) {
  const Blocks g;
  const SearchProblem problem(g, WithSlowLink());
  ItemDraft draft(3 * Blocks::kBlocks, kFirst);
  for (size_t i = 0; i < draft.size(); i += 2) draft[i] = kSecond;
  const SearchMoves moves(problem.space());
  const std::vector<Move> few = moves.Of(draft, 12);
  EXPECT_EQ(few.size(), 12u);
  EXPECT_GT(moves.OfKind(MoveKind::kBorder, draft, 1000).size(), 12u);
  int kinds = 0;
  for (MoveKind kind : kMoveKinds) {
    const std::vector<Move> of_kind = moves.OfKind(kind, draft, 1);
    kinds += !of_kind.empty() && absl::c_linear_search(few, of_kind[0]) ? 1 : 0;
  }
  EXPECT_GE(kinds, 5);
}

// Six layers: forward f0 .. f5, backward b5 .. b0, updates u5 .. u0.
struct Training : SampleGraph {
  static constexpr int kLayers = 6;
  static constexpr int64_t kWeight = int64_t{1} << 14;  // 64 KiB
  Training() {
    ValueId value = Input("x", kLine);
    std::vector<ValueId> weights, forward;
    for (int i = 0; i < kLayers; ++i) {
      weights.push_back(Variable(absl::StrCat("w", i), kWeight));
      value = Work(absl::StrCat("f", i), {value, weights[i]}, kLine);
      forward.push_back(value);
    }
    for (int i = kLayers - 1; i >= 0; --i) {
      value =
          Work(absl::StrCat("b", i), {value, forward[i], weights[i]}, kLine);
      Update(absl::StrCat("w", i),
             Work(absl::StrCat("u", i), {value, weights[i]}, kWeight));
    }
    Return({forward.back()});
  }
};

// The first device runs the layers 0 .. layers - 1.
ItemDraft InStages(const SearchProblem& problem, int layers) {
  const Flow& flow = problem.space().flow;
  ItemDraft draft;
  for (const FlowItem& item : flow.items) {
    const std::string name(
        problem.request().graph().view(item.node).result(0).name());
    draft.push_back(name[1] - '0' < layers ? kFirst : kSecond);
  }
  return draft;
}

// Two of six layers are on the first device, which has memory for three. A
// layer's forward and update node must move together: the new weight would need
// a transfer of 50 seconds.
TEST(MovesTest, AStageBorderMovesForwardBackwardAndUpdate) {
  const Training g;
  Machine machine = EqualCpus(2, kMemory);
  constexpr int64_t kBytes = 4 * Training::kWeight;
  machine.devices[0].memory = 3 * 2 * kBytes + 8192;
  machine.links[0].bandwidth = kBytes / 50.0;
  SearchQuestion question;
  question.options.micro_batches = {.count = 8, .sharded_inputs = {true}};
  const SearchProblem problem(g, machine, question);
  const ItemDraft start = InStages(problem, 2);
  const ItemDraft even = InStages(problem, 3);
  const double stuck = Climbed(problem, MoveKind::kStageBorder, start);
  EXPECT_LE(Climbed(problem, std::nullopt, start),
            problem.Score(even).seconds + 0.1);
  EXPECT_GT(stuck, problem.Score(even).seconds + 1);
}

// In inference the folded line is the graph's order: no move is there twice.
TEST(MovesTest, InferenceHasNoStageBorders) {
  const Blocks g;
  const SearchProblem problem(g, WithSlowLink());
  ItemDraft draft(3 * Blocks::kBlocks, kFirst);
  draft.back() = kSecond;
  const SearchMoves moves(problem.space());
  EXPECT_FALSE(moves.OfKind(MoveKind::kBorder, draft, 1000).empty());
  EXPECT_TRUE(moves.OfKind(MoveKind::kStageBorder, draft, 1000).empty());
}

// Two layers, each with the gradient of its weight, a scaled gradient and an
// update.
Module TrainingByData() {
  const char* text = R"(
variable @v: f32[2, 2] trainable = f32[2, 2] [1, 2, 3, 4]
variable @w: f32[2, 2] trainable = f32[2, 2] [4, 3, 2, 1]

graph @g(%x: f32[8, 2]) -> (f32[8, 2]) {
  %v = variable {dtype = f32, name = "v", shape = [2, 2]} : f32[2, 2]
  %w = variable {dtype = f32, name = "w", shape = [2, 2]} : f32[2, 2]
  %y = matmul %x, %v : f32[8, 2]
  %z = matmul %y, %w : f32[8, 2]
  %xt = transpose %x {perm = [1, 0]} : f32[2, 8]
  %yt = transpose %y {perm = [1, 0]} : f32[2, 8]
  %gv = matmul %xt, %z : f32[2, 2]
  %gw = matmul %yt, %z : f32[2, 2]
  %sv = neg %gv : f32[2, 2]
  %sw = neg %gw : f32[2, 2]
  %nv = add %v, %sv : f32[2, 2]
  %nw = add %w, %sw : f32[2, 2]
  update @v = %nv
  update @w = %nw
  return %z
}
)";
  return *ParseModule(text, "training", OpSet::BuiltIn());
}

// One move shards all updates with the gradients that lead to them, and one
// undoes it.
TEST(MovesTest, UpdatesAreShardedAndReplicatedTogether) {
  const Module module = TrainingByData();
  const SearchProblem problem(module.main(), EqualCpus(2, kMemory));
  const auto data = DraftData(problem.request());
  ASSERT_TRUE(data.ok()) << data.status();
  const auto replicated = ItemDraftOf(problem.space(), *data);
  ASSERT_TRUE(replicated.has_value());
  const SearchMoves moves(problem.space());
  const std::vector<Move> on =
      moves.OfKind(MoveKind::kUpdates, *replicated, 1000);
  ASSERT_FALSE(on.empty());
  ItemDraft sharded = *replicated;
  Apply(on.front(), sharded);
  std::vector<std::string> names;
  for (const auto& [item, place] : on.front()) {
    EXPECT_NE(place.split, ItemPlace::kWhole);
    names.push_back(std::string(module.main()
                                    .view(problem.space().flow.items[item].node)
                                    .result(0)
                                    .name()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"sv", "sw", "nv", "nw"}));
  EXPECT_TRUE(absl::c_any_of(moves.OfKind(MoveKind::kUpdates, sharded, 1000),
                             [&](const Move& move) {
                               ItemDraft draft = sharded;
                               Apply(move, draft);
                               return draft == *replicated;
                             }));
}

// Nodes of different types in sequence, which can be split along the rows only.
Module DifferentNodes(int count) {
  std::string body;
  std::string last = "%x";
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&body, "  %y", i, " = concat ", last,
                    ", %x {axis = 1} : f32[4, ", i + 1, "]\n");
    last = absl::StrCat("%y", i);
  }
  return *ParseModule(
      absl::StrCat("graph @g(%x: f32[4, 1]) -> (f32[4, ", count + 1, "]) {\n",
                   body, "  return ", last, "\n}\n"),
      "nodes", OpSet::BuiltIn());
}

// All items lead to the same move. If each listed it, the test would time out.
TEST(MovesTest, AFamilyOfManyDifferentItemsIsListedOnce) {
  constexpr int kCount = 20'000;
  const Module module = DifferentNodes(kCount);
  const SearchProblem problem(module.main(), EqualCpus(2, kMemory));
  const std::vector<Move> moves =
      SearchMoves(problem.space())
          .OfKind(MoveKind::kFamily, ItemDraft(kCount, kFirst), 100);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].size(), kCount);
}

// The bytes of the device that needs most, within the time.
TEST(MovesTest, MemoryIsLessWithinTheTime) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x, g.Weight("v", 8 * kLine)}, kLine);
  g.Return({g.Work("b", {a, g.Weight("w", 8 * kLine)}, kLine)});
  const Machine machine = WithLatency(1);
  const ItemDraft alone = {kFirst, kFirst};
  const ItemDraft apart = {kFirst, kSecond};
  SearchQuestion question;
  question.objective.goal = Goal::kMemory;
  const SearchProblem any(g, machine, question);
  EXPECT_TRUE(IsBetter(any.Score(apart), any.Score(alone)));
  question.objective.most_step_seconds = 2.5;  // alone 2, apart 3
  const SearchProblem quick(g, machine, question);
  EXPECT_TRUE(IsBetter(quick.Score(alone), quick.Score(apart)));
  const SearchProblem latency(g, machine);
  EXPECT_TRUE(IsBetter(latency.Score(alone), latency.Score(apart)));
}

}  // namespace
}  // namespace partita
