// Which sums go into one bucket, as text before and after.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/fill_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/shard.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "placement/partition/testing/verify_no_cross_device_edges.h"
#include "placement/partition/verify_split.h"

namespace partita {
namespace {

// The placed graph with buckets of `bytes`. Each micro-batch has its own part
// of the inputs with `split_inputs`.
std::string Filled(const std::string& text, int64_t bytes,
                   const std::vector<bool>& split_inputs = {}) {
  absl::StatusOr<Module> module =
      ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  Graph& graph = module->main();
  EXPECT_EQ(FillBuckets(graph, bytes, VaryingValues(graph, split_inputs)),
            absl::OkStatus());
  EXPECT_EQ(VerifyModule(*module), absl::OkStatus());
  EXPECT_EQ(VerifyNoCrossDeviceEdges(graph), absl::OkStatus());
  return PrintGraph(graph);
}

constexpr char kThreeSums[] =
    R"(graph @f(%x: f32[4, 2] on {a, b}, %y: f32[4, 3] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %t = copy %y : f32[4, 3] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %p.all = copy %p : f32[2] on {a, b} (partial sum) -> (replicated)
  %q = reduce_sum %t {axes = [0], keep_dims = false} : f32[3] on {a, b} (split 0) -> (partial sum)
  %q.all = copy %q : f32[3] on {a, b} (partial sum) -> (replicated)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %r.all = copy %r : f32[2] on {a, b} (partial max) -> (replicated)
  %n = reduce_sum %q.all {axes = [0]} : f32[1] on {a, b}
  %m = add %p.all, %r.all : f32[2] on {a, b}
  %l = mul %m, %n : f32[2] on {a, b}
  return %l as y
}
)";

TEST(FillBuckets, TakesAllSumsThatFit) {
  EXPECT_EQ(
      Filled(kThreeSums, 1000),
      R"(graph @f(%x: f32[4, 2] on {a, b}, %y: f32[4, 3] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %t = copy %y : f32[4, 3] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %q = reduce_sum %t {axes = [0], keep_dims = false} : f32[3] on {a, b} (split 0) -> (partial sum)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %p.all, %q.all, %r.all = bucket %p, %q, %r : f32[2], f32[3], f32[2]
      on {a, b} (partial sum, partial sum, partial max) -> (replicated, replicated, replicated)
  %n = reduce_sum %q.all {axes = [0]} : f32[1] on {a, b}
  %m = add %p.all, %r.all : f32[2] on {a, b}
  %l = mul %m, %n : f32[2] on {a, b}
  return %l as y
}
)");
}

TEST(FillBuckets, AFullBucketIsClosed) {
  EXPECT_EQ(
      Filled(kThreeSums, 16),
      R"(graph @f(%x: f32[4, 2] on {a, b}, %y: f32[4, 3] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %t = copy %y : f32[4, 3] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %q = reduce_sum %t {axes = [0], keep_dims = false} : f32[3] on {a, b} (split 0) -> (partial sum)
  %p.all, %q.all = bucket %p, %q : f32[2], f32[3]
      on {a, b} (partial sum, partial sum) -> (replicated, replicated)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %r.all = copy %r : f32[2] on {a, b} (partial max) -> (replicated)
  %n = reduce_sum %q.all {axes = [0]} : f32[1] on {a, b}
  %m = add %p.all, %r.all : f32[2] on {a, b}
  %l = mul %m, %n : f32[2] on {a, b}
  return %l as y
}
)");
}

// %p and %q belong to one of two micro-batches, %q.sum to both.
TEST(FillBuckets, CollectivesOfEachMicroBatchAreNotBucketed) {
  const std::string text = absl::StrReplaceAll(
      kThreeSums, {{"  %q.all = copy %q :",
                    "  %q.sum = accumulate %q {micro_batches = 2} : f32[3] on "
                    "{a, b} (partial sum) -> (partial sum)\n"
                    "  %q.all = copy %q.sum :"},
                   {"  %r.all = copy %r :",
                    "  %u = reduce_sum %t {axes = [0, 1], keep_dims = false} : "
                    "f32[] on {a, b} (split 0) -> (partial sum)\n"
                    "  %u.sum = accumulate %u {micro_batches = 2} : f32[] on "
                    "{a, b} (partial sum) -> (partial sum)\n"
                    "  %u.all = copy %u.sum : f32[] on {a, b} (partial sum) -> "
                    "(replicated)\n"
                    "  %r.all = copy %r :"},
                   {"%l = mul %m, %n : f32[2] on {a, b}",
                    "%k = mul %m, %n : f32[2] on {a, b}\n"
                    "  %l = mul %k, %u.all : f32[2] on {a, b}"}});
  const std::string filled = Filled(text, 1000, {true, true});
  EXPECT_THAT(filled, testing::HasSubstr("%p.all = copy %p :"));
  EXPECT_THAT(filled, testing::HasSubstr("%r.all = copy %r :"));
  EXPECT_THAT(filled,
              testing::HasSubstr("%q.all, %u.all = bucket %q.sum, %u.sum :"));
}

// Values of each micro-batch read %c, so %c must not wait for the gradient %g,
// which is complete only at the end.
constexpr char kRounds[] =
    R"(graph @f(%x: f32[4, 2] on {a, b} -> (split 0)) -> (f32[4, 2], f32[2]) {
  %c = reduce_max %x {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %c.all = copy %c : f32[2] on {a, b} (partial max) -> (replicated)
  %p = reduce_sum %x {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %p.sum = accumulate %p {micro_batches = 2} : f32[2] on {a, b} (partial sum) -> (partial sum)
  %p.all = copy %p.sum : f32[2] on {a, b} (partial sum) -> (replicated)
  %y = sub %x, %p.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %q = reduce_sum %READ {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %q.sum = accumulate %q {micro_batches = 2} : f32[2] on {a, b} (partial sum) -> (partial sum)
  %q.all = copy %q.sum : f32[2] on {a, b} (partial sum) -> (replicated)
  %z = sub %y, %q.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %g = reduce_sum %x {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %g.sum = accumulate %g {micro_batches = 2} : f32[2] on {a, b} (partial sum) -> (partial sum)
  %g.all = copy %g.sum : f32[2] on {a, b} (partial sum) -> (replicated)
  %n = neg %g.all : f32[2] on {a, b}
  return %z, %n as g
}
)";

TEST(FillBuckets, SumsThatMicroBatchesNeedAreNotDelayed) {
  const std::string filled =
      Filled(absl::StrReplaceAll(kRounds, {{"%READ", "%x"}}), 1000, {true});
  EXPECT_THAT(filled, testing::HasSubstr("%p.all, %q.all = bucket "));
  EXPECT_THAT(filled, testing::HasSubstr("%g.all = copy "));
}

// %q is a sum over values that depend on %p, so it needs one more round.
TEST(FillBuckets, SumsOfDifferentRoundsHaveDifferentBuckets) {
  EXPECT_THAT(
      Filled(absl::StrReplaceAll(kRounds, {{"%READ", "%y"}}), 1000, {true}),
      testing::Not(testing::HasSubstr("bucket")));
}

TEST(FillBuckets, WithoutRoomEachSumHasItsOwnCollective) {
  EXPECT_EQ(Filled(kThreeSums, 0), kThreeSums);
}

// %q depends on %p, so %p cannot wait for it; %r may wait for %q.
TEST(FillBuckets, SumsThatOthersDependOnAreNotBucketed) {
  constexpr char kText[] =
      R"(graph @f(%x: f32[4, 2] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %p.all = copy %p : f32[2] on {a, b} (partial sum) -> (replicated)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %r.all = copy %r : f32[2] on {a, b} (partial max) -> (replicated)
  %d = sub %s, %p.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %q = reduce_sum %d {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %q.all = copy %q : f32[2] on {a, b} (partial sum) -> (replicated)
  %l = add %r.all, %q.all : f32[2] on {a, b}
  return %l as y
}
)";
  EXPECT_EQ(Filled(kText, 1000),
            R"(graph @f(%x: f32[4, 2] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %p.all = copy %p : f32[2] on {a, b} (partial sum) -> (replicated)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %d = sub %s, %p.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %q = reduce_sum %d {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %r.all, %q.all = bucket %r, %q : f32[2], f32[2]
      on {a, b} (partial max, partial sum) -> (replicated, replicated)
  %l = add %r.all, %q.all : f32[2] on {a, b}
  return %l as y
}
)");
}

// No node reads a value of a bucket before the bucket.
TEST(FillBuckets, ReadersFollowTheBucket) {
  EXPECT_EQ(Filled(R"(graph @f(%x: f32[4, 2] on {a, b}) -> (f32[2], f32[2]) {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %p.all = copy %p : f32[2] on {a, b} (partial sum) -> (replicated)
  %k = neg %p.all : f32[2] on {a, b}
  %l = abs %k : f32[2] on {a, b}
  %q = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %q.all = copy %q : f32[2] on {a, b} (partial max) -> (replicated)
  %m = neg %q.all : f32[2] on {a, b}
  return %l, %m
}
)",
                   1000),
            R"(graph @f(%x: f32[4, 2] on {a, b}) -> (f32[2], f32[2]) {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %q = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %p.all, %q.all = bucket %p, %q : f32[2], f32[2]
      on {a, b} (partial sum, partial max) -> (replicated, replicated)
  %k = neg %p.all : f32[2] on {a, b}
  %l = abs %k : f32[2] on {a, b}
  %m = neg %q.all : f32[2] on {a, b}
  return %l, %m
}
)");
}

// %q depends on %p and %r, which do not depend on each other. No collective
// depends on %q, so it shares a bucket with the gradients.
constexpr char kLeadingSums[] =
    R"(graph @f(%x: f32[4, 2] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %g = reduce_min %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial min)
  %g.all = copy %g : f32[2] on {a, b} (partial min) -> (replicated)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %p.all = copy %p : f32[2] on {a, b} (partial sum) -> (replicated)
  %d = sub %s, %p.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %r.all = copy %r : f32[2] on {a, b} (partial max) -> (replicated)
  %e = mul %d, %r.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %q = reduce_sum %e {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %q.all = copy %q : f32[2] on {a, b} (partial sum) -> (replicated)
  %l = add %g.all, %q.all : f32[2] on {a, b}
  return %l
}
)";

TEST(FillBuckets, SumsThatOthersDependOnHaveTheirOwnBuckets) {
  EXPECT_EQ(Filled(kLeadingSums, 1000),
            R"(graph @f(%x: f32[4, 2] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %g = reduce_min %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial min)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %p.all, %r.all = bucket %p, %r : f32[2], f32[2]
      on {a, b} (partial sum, partial max) -> (replicated, replicated)
  %d = sub %s, %p.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %e = mul %d, %r.all : f32[4, 2] on {a, b} (split 0, replicated) -> (split 0)
  %q = reduce_sum %e {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %g.all, %q.all = bucket %g, %q : f32[2], f32[2]
      on {a, b} (partial min, partial sum) -> (replicated, replicated)
  %l = add %g.all, %q.all : f32[2] on {a, b}
  return %l
}
)");
}

TEST(FillBuckets, WithoutRoomSumsThatOthersDependOnAreNotBucketed) {
  EXPECT_EQ(Filled(kLeadingSums, 0), kLeadingSums);
}

// A large collective should start before the next one is ready.
TEST(FillBuckets, LargeSumsThatOthersDependOnAreNotBucketed) {
  constexpr char kText[] =
      R"(graph @f(%x: f32[4, 20000] on {a, b}) -> f32[] {
  %s = copy %x : f32[4, 20000] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[20000]
      on {a, b} (split 0) -> (partial sum)
  %p.all = copy %p : f32[20000] on {a, b} (partial sum) -> (replicated)
  %r = reduce_max %s {axes = [0], keep_dims = false} : f32[20000]
      on {a, b} (split 0) -> (partial max)
  %r.all = copy %r : f32[20000] on {a, b} (partial max) -> (replicated)
  %d = sub %s, %p.all : f32[4, 20000] on {a, b} (split 0, replicated) -> (split 0)
  %e = mul %d, %r.all : f32[4, 20000] on {a, b} (split 0, replicated) -> (split 0)
  %q = reduce_sum %e {axes = [0, 1], keep_dims = false} : f32[] on {a, b} (split 0) -> (partial sum)
  %q.all = copy %q : f32[] on {a, b} (partial sum) -> (replicated)
  %l = neg %q.all : f32[] on {a, b}
  return %l
}
)";
  EXPECT_EQ(Filled(kText, 1 << 20), kText);
}

// The loss does not wait for gradients.
TEST(FillBuckets, OutputsAreNotBucketed) {
  constexpr char kText[] =
      R"(graph @f(%x: f32[4, 2] on {a, b}) -> (f32[2], f32[2]) {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %p.all = copy %p : f32[2] on {a, b} (partial sum) -> (replicated)
  %q = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
  %q.all = copy %q : f32[2] on {a, b} (partial max) -> (replicated)
  %m = neg %q.all : f32[2] on {a, b}
  return %p.all, %m
}
)";
  EXPECT_EQ(Filled(kText, 1000), kText);
}

// A step with all-gathers: of %n and %t for updates, of %e for the output.
constexpr char kVariables[] = R"(variable @u: f32[4]
variable @v: f32[4]

)";
constexpr char kShards[] =
    R"(graph @f(%x: f32[4] on {a, b} -> (split 0)) -> f32[4] {
  %u = variable {dtype = f32, name = "u", shape = [4]} : f32[4] on {a, b}
  %v = variable {dtype = f32, name = "v", shape = [4]} : f32[4] on {a, b}
  %n = neg %x : f32[4] on {a, b} (split 0) -> (split 0)
  %n.all = copy %n : f32[4] on {a, b} (split 0) -> (replicated)
  %first = add %u, %n.all : f32[4] on {a, b}
  %e = exp %x : f32[4] on {a, b} (split 0) -> (split 0)
  %e.all = copy %e : f32[4] on {a, b} (split 0) -> (replicated)
  %out = abs %e.all : f32[4] on {a, b}
  %t = tanh %x : f32[4] on {a, b} (split 0) -> (split 0)
  %t.all = copy %t : f32[4] on {a, b} (split 0) -> (replicated)
  %second = add %v, %t.all : f32[4] on {a, b}
  %u.next = copy %first : f32[4] on {a, b}
  %v.next = copy %second : f32[4] on {a, b}
  update @u = %u.next
  update @v = %v.next
  return %out
}
)";

TEST(FillBuckets, AllGathersThatOnlyUpdatesNeedAreBucketed) {
  const std::string filled = Filled(absl::StrCat(kVariables, kShards), 1000);
  EXPECT_THAT(filled,
              testing::HasSubstr(
                  R"(  %t = tanh %x : f32[4] on {a, b} (split 0) -> (split 0)
  %n.all, %t.all = bucket %n, %t : f32[4], f32[4]
      on {a, b} (split 0, split 0) -> (replicated, replicated)
  %first = add %u, %n.all : f32[4] on {a, b}
  %second = add %v, %t.all : f32[4] on {a, b}
)"));
  // All-gathers that an output waits for are not bucketed.
  EXPECT_THAT(filled, testing::HasSubstr("%e.all = copy %e : f32[4] on"));
}

TEST(FillBuckets, WithoutRoomAllGathersAreNotBucketed) {
  EXPECT_EQ(Filled(absl::StrCat(kVariables, kShards), 0), kShards);
}

// Large transfers should overlap with computation.
TEST(FillBuckets, LargeAllGathersAreNotBucketed) {
  const auto large = [](absl::string_view text) {
    return absl::StrReplaceAll(
        text, {{"f32[4]", "f32[20000]"}, {"[4]}", "[20000]}"}});
  };
  EXPECT_EQ(Filled(absl::StrCat(large(kVariables), large(kShards)), 1 << 20),
            large(kShards));
}

// The error of VerifySplit for a placed graph with this bucket.
std::string ErrorOf(const std::string& bucket) {
  const auto source = ParseModule(
      R"(graph @f(%x: f32[4, 2]) -> f32[2] {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : f32[2]
  %q = reduce_max %x {axes = [0], keep_dims = false} : f32[2]
  %l = sub %p, %q : f32[2]
  return %l
}
)",
      "source.graph", OpSet::BuiltIn());
  const auto placed =
      ParseModule(absl::StrCat(R"(graph @f(%x: f32[4, 2] on {a, b}) -> f32[2] {
  %s = copy %x : f32[4, 2] on {a, b} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial sum)
  %q = reduce_max %s {axes = [0], keep_dims = false} : f32[2] on {a, b} (split 0) -> (partial max)
)",
                               bucket, R"(
  %l = sub %p.all, %q.all : f32[2] on {a, b}
  return %l
}
)"),
                  "placed.graph", OpSet::BuiltIn());
  EXPECT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(placed.ok()) << placed.status();
  if (!source.ok() || !placed.ok()) return "";
  return std::string(VerifySplit(source->main(), placed->main()).message());
}

TEST(VerifySplit, FollowsTheValuesThroughABucket) {
  EXPECT_EQ(
      ErrorOf("  %p.all, %q.all = bucket %p, %q : f32[2], f32[2] on {a, b} "
              "(partial sum, partial max) -> (replicated, replicated)"),
      "");
  EXPECT_EQ(ErrorOf("  %p.all, %q.all = bucket %q, %p : f32[2], f32[2] on "
                    "{a, b} (partial max, partial sum) -> (replicated, "
                    "replicated)"),
            "bug: placing @f changed it: sub %l: found operand 0 %p.all; "
            "expected the value %p\nsub %l: found operand 1 %q.all; expected "
            "the value %q");
}

}  // namespace
}  // namespace partita
