// Tests of partition and of the two verifiers after it.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/partition.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "placement/partition/testing/verify_no_cross_device_edges.h"
#include "placement/partition/verify_split.h"

namespace partita {
namespace {

// gpu:0 <-> gpu:1 <-> gpu:2, and nothing between gpu:0 and gpu:2.
Machine ThreeInALine() {
  Machine machine;
  machine.name = "line";
  for (const char* name : {"gpu:0", "gpu:1", "gpu:2"}) {
    machine.devices.push_back({.traits = {.name = name}, .memory = 1 << 20});
  }
  machine.links = {{"gpu:0", "gpu:1", 1e9}, {"gpu:1", "gpu:2", 1e9}};
  return machine;
}

// A parsed graph with `on DEVICE` on its nodes. The placements are given
// to Partition.
struct Placed {
  Module before;
  std::unique_ptr<Graph> after;
  absl::Status status;
};

std::vector<Placement> TakePlacements(Graph& graph) {
  std::vector<Placement> placements(graph.node_id_bound());
  for (const OpView& op : graph.ops()) {
    placements[op.id().index] = op.node().placement;
    graph.node(op.id()).placement = {};
  }
  return placements;
}

Placed Place(const std::string& text, const PartitionOptions& options = {}) {
  absl::StatusOr<Module> module =
      ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  Placed placed{.before = *std::move(module)};
  placed.after = placed.before.main().Clone(&placed.before.literals());
  const std::vector<Placement> placements = TakePlacements(*placed.after);
  placed.status = Partition(*placed.after, placements, ThreeInALine(), options);
  return placed;
}

void ExpectBecomes(const std::string& before, const std::string& after,
                   const PartitionOptions& options = {}) {
  const Placed placed = Place(before, options);
  ASSERT_TRUE(placed.status.ok()) << placed.status;
  EXPECT_EQ(PrintGraph(*placed.after), after);
  EXPECT_TRUE(VerifyNoCrossDeviceEdges(*placed.after).ok())
      << VerifyNoCrossDeviceEdges(*placed.after);
  const absl::Status same = VerifySplit(placed.before.main(), *placed.after);
  EXPECT_TRUE(same.ok()) << same;
}

std::string ErrorOf(const std::string& text) {
  return std::string(Place(text).status.message());
}

TEST(Partition, CopiesAValueOnceForEachDevice) {
  ExpectBecomes(R"(graph @f(%x: f32[4]) -> (f32[4], f32[4]) {
  %h = relu %x : f32[4] on gpu:0
  %a = neg %h : f32[4] on gpu:1
  %b = add %a, %h : f32[4] on gpu:1
  return %a, %b
}
)",
                R"(graph @f(%x: f32[4] on gpu:0) -> (f32[4], f32[4]) {
  %h = relu %x : f32[4] on gpu:0
  %h.gpu1 = copy %h : f32[4] on gpu:1
  %a = neg %h.gpu1 : f32[4] on gpu:1
  %b = add %a, %h.gpu1 : f32[4] on gpu:1
  return %a, %b
}
)");
}

TEST(Partition, ConstantsAreClonedAndInputsFedWhereTheyAreRead) {
  ExpectBecomes(
      R"(graph @f(%x: f32[2], %unread: f32[2]) -> f32[2] {
  %c = constant f32[2] [1, 2]
  %d = constant f32[2] [1, 2]
  %h = add %x, %c : f32[2] on gpu:0
  %g = add %h, %d : f32[2] on gpu:0
  %y = add %g, %c : f32[2] on gpu:1
  %z = add %y, %x : f32[2] on gpu:1
  return %z
}
)",
      R"(graph @f(%x: f32[2] on {gpu:0, gpu:1}, %unread: f32[2]) -> f32[2] {
  %c = constant f32[2] [1, 2] on gpu:0
  %c.gpu1 = constant f32[2] [1, 2] on gpu:1
  %d = constant f32[2] [1, 2] on gpu:0
  %h = add %x, %c : f32[2] on gpu:0
  %g = add %h, %d : f32[2] on gpu:0
  %g.gpu1 = copy %g : f32[2] on gpu:1
  %y = add %g.gpu1, %c.gpu1 : f32[2] on gpu:1
  %z = add %y, %x : f32[2] on gpu:1
  return %z
}
)");
}

TEST(Partition, AVariableWithoutUpdateIsOnEveryDeviceThatReadsIt) {
  ExpectBecomes(R"(variable @w: f32[2] = f32[2] [1, 2]

graph @f(%x: f32[2]) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2]
  %h = add %x, %w : f32[2] on gpu:0
  %y = add %h, %w : f32[2] on gpu:1
  return %y
}
)",
                R"(graph @f(%x: f32[2] on gpu:0) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:0
  %w.gpu1 = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:1
  %h = add %x, %w : f32[2] on gpu:0
  %h.gpu1 = copy %h : f32[2] on gpu:1
  %y = add %h.gpu1, %w.gpu1 : f32[2] on gpu:1
  return %y
}
)");
}

TEST(Partition, AnUpdatedVariableHasOneHome) {
  ExpectBecomes(R"(variable @w: f32[2] = f32[2] [1, 2]

graph @f(%x: f32[2]) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2]
  %h = add %x, %w : f32[2] on gpu:0
  %y = add %h, %w : f32[2] on gpu:1
  update @w = %y
  return %y
}
)",
                R"(graph @f(%x: f32[2] on gpu:0) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:0
  %w.gpu1 = copy %w : f32[2] on gpu:1
  %h = add %x, %w : f32[2] on gpu:0
  %h.gpu1 = copy %h : f32[2] on gpu:1
  %y = add %h.gpu1, %w.gpu1 : f32[2] on gpu:1
  %w.next = copy %y : f32[2] on gpu:0
  update @w = %w.next
  return %y
}
)");
}

TEST(Partition, AVariableThatAnotherFunctionUpdatesHasOneHome) {
  const std::string reads_twice = R"(variable @w: f32[2] = f32[2] [1, 2]

graph @f(%x: f32[2]) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2]
  %h = add %x, %w : f32[2] on gpu:0
  %y = add %h, %w : f32[2] on gpu:1
  return %y
}
)";
  // Default home: the device of its first reader.
  ExpectBecomes(reads_twice, R"(graph @f(%x: f32[2] on gpu:0) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:0
  %w.gpu1 = copy %w : f32[2] on gpu:1
  %h = add %x, %w : f32[2] on gpu:0
  %h.gpu1 = copy %h : f32[2] on gpu:1
  %y = add %h.gpu1, %w.gpu1 : f32[2] on gpu:1
  return %y
}
)",
                {.homes = {{"w", {}}}});
  ExpectBecomes(reads_twice, R"(graph @f(%x: f32[2] on gpu:0) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:1
  %w.gpu0 = copy %w : f32[2] on gpu:0
  %h = add %x, %w.gpu0 : f32[2] on gpu:0
  %h.gpu1 = copy %h : f32[2] on gpu:1
  %y = add %h.gpu1, %w : f32[2] on gpu:1
  return %y
}
)",
                {.homes = {{"w", {.devices = {"gpu:1"}}}}});
}

TEST(Partition, VariablesMaySwapTheirValues) {
  ExpectBecomes(R"(variable @a: f32[2] = f32[2] [1, 2]
variable @b: f32[2] = f32[2] [3, 4]

graph @f() -> f32[2] {
  %a = variable {dtype = f32, name = "a", shape = [2]} : f32[2]
  %b = variable {dtype = f32, name = "b", shape = [2]} : f32[2]
  %y = add %a, %b : f32[2] on gpu:0
  update @a = %b
  update @b = %a
  return %y
}
)",
                R"(graph @f() -> f32[2] {
  %a = variable {dtype = f32, name = "a", shape = [2]} : f32[2] on gpu:0
  %b = variable {dtype = f32, name = "b", shape = [2]} : f32[2] on gpu:0
  %y = add %a, %b : f32[2] on gpu:0
  %a.new = copy %b : f32[2] on gpu:0
  %b.new = copy %a : f32[2] on gpu:0
  %a.next = copy %a.new : f32[2] on gpu:0
  %b.next = copy %b.new : f32[2] on gpu:0
  update @a = %a.next
  update @b = %b.next
  return %y
}
)");
}

TEST(Partition, OperandsWithTheFactorAreSplitOthersReplicated) {
  ExpectBecomes(
      R"(graph @f(%x: f32[5, 4]) -> f32[5, 3] {
  %w = constant f32[12] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %m = reshape %w {shape = [4, 3]} : f32[4, 3] on gpu:0
  %y = matmul %x, %m : f32[5, 3] on {gpu:0, gpu:1} (replicated, replicated) -> (split 0)
  %z = relu %y : f32[5, 3] on {gpu:0, gpu:1} (replicated) -> (split 0)
  return %z
}
)",
      R"(graph @f(%x: f32[5, 4] on {gpu:0, gpu:1} -> (split 0)) -> f32[5, 3] {
  %w = constant f32[12] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] on gpu:0
  %m = reshape %w {shape = [4, 3]} : f32[4, 3] on gpu:0
  %m.all = copy %m : f32[4, 3] on {gpu:0, gpu:1}
  %y = matmul %x, %m.all : f32[5, 3] on {gpu:0, gpu:1} (split 0, replicated) -> (split 0)
  %z = relu %y : f32[5, 3] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %z.gpu0 = copy %z : f32[5, 3] on gpu:0
  return %z.gpu0 as z
}
)");
}

// Rows of a matrix that are tokens of samples stay with their sample. An even
// split needs no unit.
TEST(Partition, AMergedDimensionIsSplitInUnits) {
  ExpectBecomes(
      R"(graph @f(%x: f32[5, 2, 4]) -> f32[5, 2, 4] {
  %m = reshape %x {shape = [10, 4]} : f32[10, 4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %y = relu %m : f32[10, 4] on {gpu:0, gpu:1} (replicated) -> (split 0 by 2)
  %z = reshape %y {shape = [5, 2, 4]} : f32[5, 2, 4] on {gpu:0, gpu:1} (replicated) -> (split 0)
  return %z
}
)",
      R"(graph @f(%x: f32[5, 2, 4] on {gpu:0, gpu:1} -> (split 0)) -> f32[5, 2, 4] {
  %m = reshape %x {shape = [10, 4]} : f32[10, 4] on {gpu:0, gpu:1} (split 0) -> (split 0 by 2)
  %y = relu %m : f32[10, 4] on {gpu:0, gpu:1} (split 0 by 2) -> (split 0 by 2)
  %z = reshape %y {shape = [5, 2, 4]} : f32[5, 2, 4] on {gpu:0, gpu:1} (split 0 by 2) -> (split 0)
  %z.gpu0 = copy %z : f32[5, 2, 4] on gpu:0
  return %z.gpu0 as z
}
)");
  ExpectBecomes(
      R"(graph @f(%x: f32[6, 3, 4]) -> f32[18, 4] {
  %m = reshape %x {shape = [18, 4]} : f32[18, 4] on {gpu:0, gpu:1} (replicated) -> (split 0)
  return %m
}
)",
      R"(graph @f(%x: f32[6, 3, 4] on {gpu:0, gpu:1} -> (split 0)) -> f32[18, 4] {
  %m = reshape %x {shape = [18, 4]} : f32[18, 4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %m.gpu0 = copy %m : f32[18, 4] on gpu:0
  return %m.gpu0 as m
}
)");
}

// Shards of another unit are copied.
TEST(Partition, ShardsInOtherUnitsAreCopied) {
  ExpectBecomes(
      R"(graph @f(%x: f32[10, 4]) -> f32[5, 2, 4] {
  %y = relu %x : f32[10, 4] on {gpu:0, gpu:1} (replicated) -> (split 0)
  %u = sigmoid %x : f32[10, 4] on gpu:0
  %z = add %u, %y : f32[10, 4] on {gpu:0, gpu:1} (replicated, replicated) -> (split 0 by 2)
  %r = reshape %z {shape = [5, 2, 4]} : f32[5, 2, 4] on {gpu:0, gpu:1} (replicated) -> (split 0)
  return %r
}
)",
      R"(graph @f(%x: f32[10, 4] on {gpu:0, gpu:1}) -> f32[5, 2, 4] {
  %x.split0 = copy %x : f32[10, 4] on {gpu:0, gpu:1} (replicated) -> (split 0)
  %y = relu %x.split0 : f32[10, 4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %y.split0 = copy %y : f32[10, 4] on {gpu:0, gpu:1} (split 0) -> (split 0 by 2)
  %u = sigmoid %x : f32[10, 4] on gpu:0
  %u.split0 = copy %u : f32[10, 4] on {gpu:0, gpu:1} (replicated) -> (split 0 by 2)
  %z = add %u.split0, %y.split0 : f32[10, 4]
      on {gpu:0, gpu:1} (split 0 by 2, split 0 by 2) -> (split 0 by 2)
  %r = reshape %z {shape = [5, 2, 4]} : f32[5, 2, 4] on {gpu:0, gpu:1} (split 0 by 2) -> (split 0)
  %r.gpu0 = copy %r : f32[5, 2, 4] on gpu:0
  return %r.gpu0 as r
}
)");
}

TEST(Partition, RefusesAUnitThatIsNoShardOfTheFactor) {
  EXPECT_EQ(ErrorOf(R"(graph @f(%x: f32[5, 4, 4]) -> f32[20, 4] {
  %y = reshape %x {shape = [20, 4]} : f32[20, 4] on {gpu:0, gpu:1} (replicated) -> (split 0 by 2)
  return %y
}
)"),
            "reshape %y: found a split along dimension 0 by 2; expected a unit "
            "of whole indices of its outermost part; leave the unit to the "
            "compiler");
}

// Readers of a partial sum get the all-reduced sum; other devices copy it from
// there.
TEST(Partition, PartialSumsAreReducedWhereTheyAreMade) {
  ExpectBecomes(
      R"(graph @f(%x: f32[4, 3], %d: f32[4, 2]) -> (f32[3, 2], f32[3, 2]) {
  %t = transpose %x {perm = [1, 0]} : f32[3, 4] on {gpu:0, gpu:1} (split 0) -> (split 1)
  %g = matmul %t, %d : f32[3, 2] on {gpu:0, gpu:1} (split 1, split 0) -> (partial sum)
  %n = neg %g : f32[3, 2] on {gpu:0, gpu:1}
  %m = exp %g : f32[3, 2] on gpu:2
  return %n, %m
}
)",
      R"(graph @f(
    %x: f32[4, 3] on {gpu:0, gpu:1} -> (split 0),
    %d: f32[4, 2] on {gpu:0, gpu:1} -> (split 0)) -> (f32[3, 2], f32[3, 2]) {
  %t = transpose %x {perm = [1, 0]} : f32[3, 4] on {gpu:0, gpu:1} (split 0) -> (split 1)
  %g = matmul %t, %d : f32[3, 2] on {gpu:0, gpu:1} (split 1, split 0) -> (partial sum)
  %g.all = copy %g : f32[3, 2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  %g.all.gpu2 = copy %g.all : f32[3, 2] on gpu:2
  %n = neg %g.all : f32[3, 2] on {gpu:0, gpu:1}
  %m = exp %g.all.gpu2 : f32[3, 2] on gpu:2
  return %n, %m
}
)");
}

constexpr char kTwoOutputs[] =
    R"(graph @f(%x: f32[4, 3]) -> (f32[4, 3], f32[4]) {
  %h = relu %x : f32[4, 3] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %s = reduce_sum %h {axes = [1], keep_dims = false} : f32[4] on gpu:0
  return %h, %s
}
)";

TEST(Partition, AShardedOutputIsGatheredOnItsFirstDevice) {
  ExpectBecomes(
      kTwoOutputs,
      R"(graph @f(%x: f32[4, 3] on {gpu:0, gpu:1} -> (split 0)) -> (f32[4, 3], f32[4]) {
  %h = relu %x : f32[4, 3] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %h.gpu0 = copy %h : f32[4, 3] on gpu:0
  %s = reduce_sum %h.gpu0 {axes = [1], keep_dims = false} : f32[4] on gpu:0
  return %h.gpu0 as h, %s
}
)");
}

TEST(Partition, EveryOutputIsCopiedToTheOutputDevice) {
  ExpectBecomes(
      kTwoOutputs,
      R"(graph @f(%x: f32[4, 3] on {gpu:0, gpu:1} -> (split 0)) -> (f32[4, 3], f32[4]) {
  %h = relu %x : f32[4, 3] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %h.gpu0 = copy %h : f32[4, 3] on gpu:0
  %h.gpu1 = copy %h : f32[4, 3] on gpu:1
  %s = reduce_sum %h.gpu0 {axes = [1], keep_dims = false} : f32[4] on gpu:0
  %s.gpu1 = copy %s : f32[4] on gpu:1
  return %h.gpu1 as h, %s.gpu1 as s
}
)",
      {.output_device = "gpu:1"});
}

TEST(Partition, OutputsAreReadFromTheReplicaOnTheOutputDevice) {
  constexpr char kReplicas[] =
      R"(graph @f(%x: f32[4]) -> (f32[4], f32[4]) {
  %y = neg %x : f32[4] on {gpu:0, gpu:1}
  return %y, %y as z
}
)";
  ExpectBecomes(kReplicas,
                R"(graph @f(%x: f32[4] on {gpu:0, gpu:1}) -> (f32[4], f32[4]) {
  %y = neg %x : f32[4] on {gpu:0, gpu:1}
  %y.gpu1 = copy %y : f32[4] on gpu:1
  return %y.gpu1 as y, %y.gpu1 as z
}
)",
                {.output_device = "gpu:1"});
  ExpectBecomes(kReplicas,
                R"(graph @f(%x: f32[4] on {gpu:0, gpu:1}) -> (f32[4], f32[4]) {
  %y = neg %x : f32[4] on {gpu:0, gpu:1}
  return %y, %y as z
}
)",
                {.output_device = "gpu:0"});
}

TEST(Partition, RefusesACopyWithoutALink) {
  EXPECT_EQ(
      ErrorOf(R"(graph @f(%x: f32[4]) -> f32[4] {
  %h = relu %x : f32[4] on gpu:0
  %y = neg %h : f32[4] on gpu:2
  return %y
}
)"),
      R"(neg %y: found %h needed on gpu:2 and made on gpu:0, between which the machine has no link; expected a link gpu:0 -> gpu:2; add the link to the machine file or pin neg %y on gpu:0)");
}

TEST(Partition, RefusesASplitAlongAFactorThatMustStayWhole) {
  EXPECT_EQ(
      ErrorOf(R"(graph @f(%x: f32[4, 6]) -> f32[4, 6] {
  %y = softmax %x {axis = 1} : f32[4, 6] on {gpu:0, gpu:1} (replicated) -> (split 1)
  return %y
}
)"),
      R"(softmax %y: found a split along dimension 1 of its result, whose shards depend on one another; expected a dimension with independent shards; choose another dimension, or leave the node whole on one device)");
}

TEST(Partition, RefusesMoreDevicesThanRows) {
  EXPECT_EQ(ErrorOf(R"(graph @f(%x: f32[1, 6]) -> f32[2, 6] {
  %y = concat %x, %x {axis = 0} : f32[2, 6] on gpu:0
  %z = relu %y : f32[2, 6] on {gpu:0, gpu:1, gpu:2} (replicated) -> (split 0)
  return %z
}
)"),
            "relu %z: found a split along dimension 0 of its result, which has "
            "at most 2 shards, over 3 devices; expected at least one shard for "
            "each device; choose fewer devices or another dimension");
}

TEST(Partition, RefusesADeviceThatTheMachineDoesNotHave) {
  EXPECT_EQ(
      ErrorOf(R"(graph @f(%x: f32[4]) -> f32[4] {
  %y = relu %x : f32[4] on gpu:7
  return %y
}
)"),
      R"(relu %y: found device gpu:7; expected one of the machine's; name a device of the machine file)");
}

// The error of VerifySplit for a placed graph that was changed.
std::string AfterHarm(void (*harm)(Graph& graph)) {
  Placed placed = Place(R"(graph @f(%x: f32[4]) -> f32[4] {
  %a = neg %x : f32[4] on gpu:0
  %b = exp %x : f32[4] on gpu:0
  %y = sub %a, %b : f32[4] on gpu:1
  return %y
}
)");
  EXPECT_TRUE(placed.status.ok());
  harm(*placed.after);
  return std::string(
      VerifySplit(placed.before.main(), *placed.after).message());
}

NodeId Last(const Graph& graph) { return graph.order().back(); }

TEST(VerifySplit, FindsSwappedOperands) {
  EXPECT_EQ(AfterHarm([](Graph& graph) {
              const ValueIds operands = graph.node(Last(graph)).operands;
              graph.SetOperand(Last(graph), 0, operands[1]);
              graph.SetOperand(Last(graph), 1, operands[0]);
            }),
            "bug: placing @f changed it: sub %y: found operand 0 %b.gpu1; "
            "expected the value %a\nsub %y: found operand 1 %a.gpu1; expected "
            "the value %b");
}

TEST(VerifySplit, FindsAnotherOutput) {
  EXPECT_EQ(AfterHarm([](Graph& graph) {
              graph.SetOutput(0, graph.node(Last(graph)).operands[0]);
            }),
            "bug: placing @f changed it: output y: found another value");
}

TEST(VerifySplit, FindsAnInconsistentSharding) {
  EXPECT_EQ(AfterHarm([](Graph& graph) {
              Placement& placement = graph.node(Last(graph)).placement;
              placement.devices = {"gpu:0", "gpu:1"};
              placement.operands = {{}, {.kind = Sharding::Kind::kSplit}};
              placement.results = {{.kind = Sharding::Kind::kSplit}};
            }),
            "bug: placing @f changed it: sub %y: found (replicated, split 0) "
            "-> (split 0); expected (split 0, split 0) -> (split 0), or all of "
            "it on each device, as its op's dimension rule allows");
}

TEST(VerifyNoCrossDeviceEdges, NamesTheEdge) {
  Placed placed = Place(R"(graph @f(%x: f32[4]) -> f32[4] {
  %a = neg %x : f32[4] on gpu:0
  %y = exp %a : f32[4] on gpu:0
  return %y
}
)");
  placed.after->node(Last(*placed.after)).placement.devices = {"gpu:1"};
  EXPECT_EQ(std::string(VerifyNoCrossDeviceEdges(*placed.after).message()),
            "@f: exp %y on gpu:1: found %a on gpu:0 or in another sharding; "
            "expected a copy between them");
}

}  // namespace
}  // namespace partita
