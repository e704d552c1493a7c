// Tests graphs of micro-batches, and their verifier.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/micro_batches.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "gtest/gtest.h"
#include "placement/partition/verify_micro_batches.h"

namespace partita {
namespace {

Module Parse(const std::string& text) {
  auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// A step of linear regression, in the form that gradients have.
constexpr char kStep[] =
    R"(variable @w: f32[4, 3] trainable = f32[4, 3] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

graph @train(%x: f32[8, 4], %t: f32[8, 3], %rate: f32[]) -> (f32[], f32[8, 3]) {
  %w = variable {dtype = f32, name = "w", shape = [4, 3]} : f32[4, 3]
  %y = matmul %x, %w : f32[8, 3]
  %d = sub %y, %t : f32[8, 3]
  %squares = mul %d, %d : f32[8, 3]
  %loss = reduce_sum %squares {axes = [0, 1], keep_dims = false} : f32[]
  %xt = transpose %x {perm = [1, 0]} : f32[4, 8]
  %g = matmul %xt, %d : f32[4, 3]
  %s = mul %g, %rate : f32[4, 3]
  %n = sub %w, %s : f32[4, 3]
  update @w = %n
  return %loss, %y
}
)";

std::string Split(const std::string& text, int count,
                  const std::vector<std::string>& batch_inputs = {}) {
  const Module module = Parse(text);
  Graph& graph = module.main();
  const std::unique_ptr<Graph> whole = graph.Clone(&graph.literals());
  const auto split = DivideIntoMicroBatches(graph, count, batch_inputs);
  if (!split.ok()) return std::string(split.status().message());
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph);
  const absl::Status proof = VerifyMicroBatches(*whole, graph, count);
  EXPECT_TRUE(proof.ok()) << proof;
  return PrintModule(module);
}

TEST(MicroBatches, ReadersOfTheBatchAreSplitAndSumsAccumulated) {
  EXPECT_EQ(
      Split(kStep, 4),
      R"(variable @w: f32[4, 3] trainable = f32[4, 3] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

graph @train(%x: f32[2, 4], %t: f32[2, 3], %rate: f32[]) -> (f32[], f32[2, 3]) {
  %w = variable {dtype = f32, name = "w", shape = [4, 3]} : f32[4, 3]
  %y = matmul %x, %w : f32[2, 3]
  %d = sub %y, %t : f32[2, 3]
  %squares = mul %d, %d : f32[2, 3]
  %loss = reduce_sum %squares {axes = [0, 1], keep_dims = false} : f32[]
  %loss.sum = accumulate %loss {micro_batches = 4} : f32[]
  %xt = transpose %x {perm = [1, 0]} : f32[4, 2]
  %g = matmul %xt, %d : f32[4, 3]
  %g.sum = accumulate %g {micro_batches = 4} : f32[4, 3]
  %s = mul %g.sum, %rate : f32[4, 3]
  %n = sub %w, %s : f32[4, 3]
  update @w = %n
  return %loss.sum as loss, %y
}
)");
}

TEST(MicroBatches, ReportWhichInputsAreSplit) {
  const Module module = Parse(kStep);
  const auto split = DivideIntoMicroBatches(module.main(), 2);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->count, 2);
  EXPECT_EQ(split->sharded_inputs, (std::vector<bool>{true, true, false}));
}

TEST(MicroBatches, WeightsOfTheBatchsExtentAreWhole) {
  EXPECT_EQ(Split(R"(graph @f(%x: f32[8, 8], %w: f32[8, 3]) -> f32[8, 3] {
  %y = matmul %x, %w : f32[8, 3]
  return %y
}
)",
                  4),
            R"(graph @f(%x: f32[2, 8], %w: f32[8, 3]) -> f32[2, 3] {
  %y = matmul %x, %w : f32[2, 3]
  return %y
}
)");
}

constexpr char kTable[] =
    R"(graph @f(%table: f32[6, 3], %ids: i32[4]) -> f32[4, 3] {
  %y = gather %table, %ids {axis = 0} : f32[4, 3]
  return %y
}
)";

TEST(MicroBatches, InputsThatAreNamedHoldTheBatch) {
  EXPECT_EQ(Split(kTable, 2, {"ids"}),
            R"(graph @f(%table: f32[6, 3], %ids: i32[2]) -> f32[2, 3] {
  %y = gather %table, %ids : f32[2, 3]
  return %y
}
)");
}

TEST(MicroBatches, ARefusalNamesTheInputsTakenForTheBatch) {
  EXPECT_EQ(
      Split(kTable, 2),
      "micro-batches of @f: found results that need the whole batch at once; "
      "expected independent examples, and sums over them; "
      "leave out micro-batches, or write it as a sum:\n"
      "  gather %y: reads all examples of operand 0\n"
      "  the batch was taken for the first extent of table f32[6, 3]; if "
      "it is not, name the inputs that hold the samples by --batch-input");
}

TEST(MicroBatches, OneLeavesTheGraphAsItIs) {
  EXPECT_EQ(Split(kStep, 1), kStep);
}

TEST(MicroBatches, RandomNumbersAdvance) {
  const std::string text = Split(R"(graph @f(%x: f32[6, 3]) -> f32[6, 3] {
  %seed = constant u64[] 5
  %r = random_uniform %seed, %seed {id = 0, shape = [6, 3]} : f32[6, 3]
  %y = mul %x, %r : f32[6, 3]
  return %y
}
)",
                                 3);
  EXPECT_NE(text.find("{advance = [2, 0], id = 0, origin = [0, 0], "
                      "shape = [2, 3], whole = [6, 3]}"),
            std::string::npos)
      << text;
}

TEST(MicroBatches, RandomNumbersAdvanceWhereAPinShardsThem) {
  const std::string text = Split(R"(graph @f(%x: f32[6, 4]) -> f32[6, 4] {
  %seed = constant u64[] 5
  %r = random_uniform %seed, %seed {id = 0, shape = [6, 4]} : f32[6, 4]
      on {cpu:0, cpu:1} (replicated, replicated) -> (split 1)
  %y = mul %x, %r : f32[6, 4]
  return %y
}
)",
                                 3);
  EXPECT_NE(text.find("advance = [2, 0]"), std::string::npos) << text;
}

TEST(MicroBatches, TheCountMustDivideTheBatch) {
  EXPECT_EQ(Split(kStep, 3),
            "micro-batches of @train: found 3 for a batch of 8, the first "
            "extent of x f32[8, 4] and t f32[8, 3]; expected a divisor of the "
            "batch; take 2 or 4, or name the inputs that hold the samples by "
            "--batch-input");
  EXPECT_EQ(Split(kStep, 16),
            "micro-batches of @train: found 16 for a batch of 8, the first "
            "extent of x f32[8, 4] and t f32[8, 3]; expected a divisor of the "
            "batch; take 8, or name the inputs that hold the samples by "
            "--batch-input");
}

TEST(MicroBatches, TheCountMustDivideEveryFunctionsBatch) {
  const absl::StatusOr<Module> module =
      ParseModule(R"(graph @train(%x: f32[64]) -> f32[64] {
  %y = relu %x : f32[64]
  return %y
}

graph @evaluate(%x: f32[24]) -> f32[24] {
  %y = relu %x : f32[24]
  return %y
}
)",
                  "test", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(CheckMicroBatches(*module, 8).ok());
  EXPECT_EQ(CheckMicroBatches(*module, 16).message(),
            "micro-batches of @evaluate: found 16 for a batch of 24, the first "
            "extent of x f32[24]; expected a divisor of the batch of every "
            "function; take 8, or name the inputs that hold the samples by "
            "--batch-input");
  EXPECT_EQ(CheckMicroBatches(*module, 3).message(),
            "micro-batches of @train: found 3 for a batch of 64, the first "
            "extent of x f32[64]; expected a divisor of the batch of every "
            "function; take 2 or 4, or name the inputs that hold the samples "
            "by --batch-input");
}

TEST(MicroBatches, NodesThatNeedTheWholeBatchAreListed) {
  EXPECT_EQ(
      Split(R"(variable @v: f32[4] = f32[4] [0, 0, 0, 0]

graph @f(%x: f32[4, 3]) -> (f32[4, 3], f32[3, 4], f32[3]) {
  %v = variable {dtype = f32, name = "v", shape = [4]} : f32[4]
  %p = softmax %x {axis = 0} : f32[4, 3]
  %t = transpose %x {perm = [1, 0]} : f32[3, 4]
  %m = reduce_max %x {axes = [0], keep_dims = false} : f32[3]
  %i = reduce_sum %x {axes = [1], keep_dims = false} : f32[4]
  %s = add %v, %i : f32[4]
  %u = neg %i : f32[4]
  update @v = %u
  return %p, %t, %m
}
)",
            2),
      "micro-batches of @f: found results that need the whole batch at once; "
      "expected independent examples, and sums over them; leave out "
      "micro-batches, or write it as a sum:\n"
      "  softmax %p: reads all examples of operand 0\n"
      "  reduce_max %m: reduces over all examples by max, not by a sum\n"
      "  add %s: splits operand 0, which is the same for all examples\n"
      "  output t: has the batch along dimension 1, not the first\n"
      "  update of v: has a value for each example\n"
      "  the batch was taken for the first extent of x f32[4, 3]; if it "
      "is not, name the inputs that hold the samples by --batch-input");
}

TEST(MicroBatches, AGraphThatDoesNotReadTheBatchIsRefused) {
  EXPECT_EQ(Split(R"(graph @f(%x: f32[8], %a: f32[]) -> f32[] {
  %y = neg %a : f32[]
  return %y
}
)",
                  2),
            "micro-batches of @f: found no node that reads the batch; leave "
            "out micro-batches");
}

TEST(MicroBatches, AConstantThatIsTheSameForAllExamplesHasAPart) {
  EXPECT_EQ(Split(R"(graph @f(%x: f32[4, 2]) -> f32[4, 2] {
  %c = constant f32[4, 2] [1, 2, 1, 2, 1, 2, 1, 2]
  %y = add %x, %c : f32[4, 2]
  return %y
}
)",
                  4),
            R"(graph @f(%x: f32[1, 2]) -> f32[1, 2] {
  %c = constant f32[4, 2] [1, 2, 1, 2, 1, 2, 1, 2]
  %0 = constant f32[1, 2] [1, 2]
  %y = add %x, %0 : f32[1, 2]
  return %y
}
)");
}

TEST(MicroBatches, AnIotaOverTheExamplesIsRefused) {
  EXPECT_EQ(Split(R"(graph @f(%x: f32[4]) -> f32[4] {
  %i = iota {count = 4, dtype = f32} : f32[4]
  %y = add %x, %i : f32[4]
  return %y
}
)",
                  2),
            "micro-batches of @f: found results that need the whole batch at "
            "once; expected independent examples, and sums over them; "
            "leave out micro-batches, or write it as a sum:\n"
            "  iota %i: has attributes that differ from example to example\n"
            "  the batch was taken for the first extent of x f32[4]; if it is "
            "not, name the inputs that hold the samples by --batch-input");
}

// The error of the verifier for a split graph with `from` replaced by `to`.
std::string Refused(const std::string& from, const std::string& to) {
  const Module module = Parse(kStep);
  const std::string text = Split(kStep, 4);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const Module broken = Parse(std::string(text).replace(at, from.size(), to));
  const std::unique_ptr<Graph> graph = broken.main().Clone(&module.literals());
  const absl::Status status = VerifyMicroBatches(module.main(), *graph, 4);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  return std::string(status.message());
}

TEST(VerifyMicroBatches, RefusesAnotherGraph) {
  constexpr char kBug[] =
      "bug: dividing @train into 4 micro-batches changed it: ";
  EXPECT_EQ(Refused("return %loss.sum as loss", "return %loss"),
            absl::StrCat(kBug, "output loss: found another value"));
  EXPECT_EQ(Refused("mul %g.sum, %rate", "mul %g, %rate"),
            absl::StrCat(kBug, "mul %s: found another operand 0"));
  EXPECT_EQ(Refused("accumulate %g {micro_batches = 4}",
                    "accumulate %g {micro_batches = 3}"),
            absl::StrCat(kBug,
                         "accumulate %g.sum: found a sum over another number "
                         "of micro-batches"));
  EXPECT_EQ(Refused("%n = sub %w, %s", "%n = add %w, %s"),
            absl::StrCat(kBug, "add %n: found another op than of sub %n"));
  EXPECT_EQ(Refused("%s = mul %g.sum, %rate",
                    "%twice = accumulate %g.sum {micro_batches = 4} : f32[4, "
                    "3]\n  %s = mul %twice, %rate"),
            absl::StrCat(kBug,
                         "accumulate %twice: found a sum of a value that is no "
                         "partial sum\nmul %s: found another operand 0"));
}

// The error of the verifier for a graph over a batch of four that runs as
// `micro_batch` twice.
std::string RefusedPair(const std::string& whole,
                        const std::string& micro_batch) {
  const Module module = Parse(whole);
  const Module split = Parse(micro_batch);
  const std::unique_ptr<Graph> graph = split.main().Clone(&module.literals());
  return std::string(VerifyMicroBatches(module.main(), *graph, 2).message());
}

TEST(VerifyMicroBatches, RefusesAttributesOfTheFirstMicroBatchInAllOthers) {
  EXPECT_EQ(RefusedPair(R"(graph @f(%x: f32[4]) -> f32[4] {
  %i = iota {count = 4, dtype = f32} : f32[4]
  %y = add %x, %i : f32[4]
  return %y
}
)",
                        R"(graph @f(%x: f32[2]) -> f32[2] {
  %i = iota {count = 2, dtype = f32} : f32[2]
  %y = add %x, %i : f32[2]
  return %y
}
)"),
            "bug: dividing @f into 2 micro-batches changed it: iota %i: found "
            "another node than the shard of iota %i in micro-batch 1");
}

TEST(VerifyMicroBatches, RefusesThemInBodies) {
  EXPECT_EQ(RefusedPair(R"(graph @f(%x: f32[4, 4]) -> f32[4, 4] {
  %y = fused %x (%p: f32[4, 4]) {
    %t = trilu %p : f32[4, 4]
    return %t
  } : f32[4, 4]
  return %y
}
)",
                        R"(graph @f(%x: f32[2, 4]) -> f32[2, 4] {
  %y = fused %x (%p: f32[2, 4]) {
    %t = trilu %p : f32[2, 4]
    return %t
  } : f32[2, 4]
  return %y
}
)"),
            "bug: dividing @f into 2 micro-batches changed it: fused %y: found "
            "another node than the shard of fused %y in micro-batch 1");
}

}  // namespace
}  // namespace partita
