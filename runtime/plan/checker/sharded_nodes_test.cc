// Tests the messages for nodes, inputs and buckets that are sharded wrongly.
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/testing/plan_description.h"

namespace partita {
namespace {

TEST(ShardedNodes, NodesAreShardedAsTheirOpsAllow) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: f32[2, 4] on {gpu:0, gpu:1}) -> f32[2, 4] {
  %s = copy %x : f32[2, 4] on {gpu:0, gpu:1} (replicated) -> (split 1)
  %y = softmax %s {axis = 1} : f32[2, 4] on {gpu:0, gpu:1} (split 1) -> (split 1)
  %z = copy %y : f32[2, 4] on gpu:0
  return %z as y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 0
  device gpu:1 cuda memory 100
    arena persistent 0 step 0
  entry @f of @f {
    input x f32[2, 4]
    output y f32[2, 4]
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText),
            "plan @f: softmax %y: found (split 1) -> (split 1); expected "
            "(split 0) -> (split 0), or all of it on each device, as its op's "
            "dimension rule allows; place it again");
}

// A partial sum passes a reorder unchanged; a sum does not become a maximum.
TEST(ShardedNodes, AReorderMovesSummands) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: i8[2, 2] on {gpu:0, gpu:1}) -> i8[2] {
  %s = copy %x : i8[2, 2] on {gpu:0, gpu:1} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %r = reorder %p : i8[2] on {gpu:0, gpu:1} (partial sum) -> (partial sum)
  %y = copy %r : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 10
  device gpu:1 cuda memory 100
    arena persistent 0 step 10
  entry @f of @f {
    input x i8[2, 2]
    output y i8[2]
    arena gpu:0
      !x 0 4
      !s 0 2
      !p 4 2
      !r 6 2
      !y 8 2
    arena gpu:1
      !x.m1 0 4
      !s.m1 2 2
      !p.m1 4 2
      !r.m1 6 2
      !y.m1 8 2
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %p (!s) -> !p
      2 kernel %r (!p) -> !r
      6 collective %y !r -> !y group 0
      8 fetch !y output 0
    stream gpu:1/s
      3 feed -> !x.m1 input 0
      4 kernel %p rank 1 (!s.m1) -> !p.m1
      5 kernel %r rank 1 (!p.m1) -> !r.m1
      7 collective %y rank 1 !r.m1 -> !y.m1 group 0
    group 0 (gpu:0/s, gpu:1/s)
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText), "proved");
  EXPECT_EQ(CheckerVerdict({{"(partial sum) -> (partial sum)",
                             "(partial sum) -> (partial max)"}},
                           kText),
            "plan @f: reorder %r: found (partial sum) -> (partial max); "
            "expected (split 0) -> (split 0), or all of it on each device, as "
            "its op's dimension rule allows; place it again\n"
            "plan @f: copy %y: found operand 0 read as partial sum; expected "
            "partial max, as %r was made; place it again");
}

// Collectives move bytes, and shards are blocks of row-major bytes.
TEST(ShardedNodes, CollectivesMoveBytesAsTheyAre) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: i8[2, 2] on {gpu:0, gpu:1} -> (split 0)) -> i8[2, 2] {
  %r = reorder %x : i8[2, 2] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %y = copy %r : i8[2, 2] on {gpu:0, gpu:1} (split 0) -> (replicated)
  %z = reorder %y : i8[2, 2] on gpu:0
  return %z as y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 12
  device gpu:1 cuda memory 100
    arena persistent 0 step 12
  entry @f of @f {
    input x i8[2, 2]
    output y i8[2, 2]
    arena gpu:0
      !x 0 2
      !r 2 2
      !y 4 4
      !z 8 4
    arena gpu:1
      !x.m1 0 2
      !r.m1 2 2
      !y.m1 4 4
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %r (!x) -> !r
      4 collective %y !r -> !y group 0
      6 kernel %z (!y) -> !z
      7 fetch !z output 0
    stream gpu:1/s
      2 feed -> !x.m1 input 0
      3 kernel %r rank 1 (!x.m1) -> !r.m1
      5 collective %y rank 1 !r.m1 -> !y.m1 group 0
    group 0 (gpu:0/s, gpu:1/s)
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText), "proved");
  constexpr absl::string_view kReordered = "reorder %x : i8[2, 2]";
  constexpr absl::string_view kGathered = "copy %r : i8[2, 2]";
  EXPECT_EQ(CheckerVerdict({{kReordered, "reorder %x : i8[2, 2]{ba}"},
                            {kGathered, "copy %r : i8[2, 2]{ba}"}},
                           kText),
            "plan @f: copy %y: found operand 0 as i8[2, 2]{ba}; expected it "
            "row-major, as its sharding changes; put a reorder before it");
  EXPECT_EQ(CheckerVerdict({{kGathered, "copy %r : i8[2, 2]{ba}"}}, kText),
            "plan @f: copy %y: found operand 0 as i8[2, 2] and result 0 as "
            "i8[2, 2]{ba}; expected one layout for both, as no kernel converts "
            "it; put a reorder before it");
}

// Two micro-batches; each of two replicas has half of each.
constexpr absl::string_view kTwoReplicasSums =
    R"(graph @f(%x: i8[2, 2] on {gpu:0, gpu:1} -> (split 0)) -> i8[2] {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %s = accumulate %p {micro_batches = 2} : i8[2] on {gpu:0, gpu:1} (partial sum) -> (partial sum)
      by k {in_place = [1 -> 0]}
  %y = copy %s : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 8
  device gpu:1 cuda memory 100
    arena persistent 0 step 8
  entry @f of @f {
    input x i8[4, 2]
    output y i8[2]
    arena gpu:0
      !x 0 2
      !p 2 2
      !s 4 2
      !y 6 2
    arena gpu:1
      !x.m1 0 2
      !p.m1 2 2
      !s.m1 4 2
      !y.m1 6 2
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %p (!x) -> !s
      2 feed batch 1 -> !x input 0
      3 kernel %p batch 1 (!x) -> !p
      4 kernel %s batch 1 (!p, !s) -> !s
      10 collective %y !s -> !y group 0
      12 fetch !y output 0
    stream gpu:1/s
      5 feed -> !x.m1 input 0
      6 kernel %p rank 1 (!x.m1) -> !s.m1
      7 feed batch 1 -> !x.m1 input 0
      8 kernel %p rank 1 batch 1 (!x.m1) -> !p.m1
      9 kernel %s rank 1 batch 1 (!p.m1, !s.m1) -> !s.m1
      11 collective %y rank 1 !s.m1 -> !y.m1 group 0
    group 0 (gpu:0/s, gpu:1/s)
  }
}
)";

// A sum of sums is a sum in any order; a sum of maxima is not a maximum.
TEST(ShardedNodes, SumsOfMicroBatchesAreNotMaxima) {
  EXPECT_EQ(CheckerVerdict({}, kTwoReplicasSums), "proved");
  EXPECT_EQ(
      CheckerVerdict(
          {{"reduce_sum", "reduce_max"}, {"partial sum", "partial max"}},
          kTwoReplicasSums),
      "plan @f: accumulate %s: found (partial max) -> (partial max); "
      "expected (split 0) -> (split 0), or all of it on each device, as its "
      "op's dimension rule allows; place it again");
  EXPECT_THAT(CheckerVerdict(
                  {{"-> (partial sum)\n      by", "-> (replicated)\n      by"}},
                  kTwoReplicasSums),
              testing::HasSubstr(
                  "copy %y: found operand 0 read as partial sum; expected "
                  "replicated, as %s was made"));
}

TEST(ShardedNodes, ARankAccumulatesAllMicroBatchesBeforeTheAllReduce) {
  EXPECT_EQ(CheckerVerdict({{"collective %y !s ->", "collective %y !p ->"}},
                           kTwoReplicasSums),
            "plan @f: command 10 reads %s from gpu:0 !p (bytes 2..4), but they "
            "hold %p bytes 0..2 of micro-batch 1 and not %s bytes 0..2");
  EXPECT_EQ(
      CheckerVerdict({{"(!p.m1, !s.m1) -> !s.m1", "(!p.m1, !p.m1) -> !s.m1"}},
                     kTwoReplicasSums),
      "plan @f: command 9 reads %s from gpu:1 !p.m1 (bytes 2..4), but "
      "they hold %p bytes 0..2 of micro-batch 1 and not %p bytes 0..2 of "
      "micro-batch 0");
}

// Each device is fed its shard of an input; the input cannot be partial.
TEST(ShardedNodes, AnInputMayArriveInShards) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: i8[4] on {gpu:0, gpu:1} -> (split 0)) -> i8[4] {
  %y = neg %x : i8[4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 6
  device gpu:1 cuda memory 100
    arena persistent 0 step 4
  device gpu:2 cuda memory 100
    arena persistent 0 step 4
  entry @f of @f {
    input x i8[4]
    output y i8[4]
    arena gpu:0
      !x 0 2
      !y 2 2
      !w 2 4
    arena gpu:1
      !x.m1 0 2
      !y.m1 2 2
    arena gpu:2
      !z 0 4
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %y (!x) -> !y
      4 fetch !y output 0
    stream gpu:1/s
      2 feed -> !x.m1 input 0
      3 kernel %y rank 1 (!x.m1) -> !y.m1
      5 fetch !y.m1 output 0
    stream gpu:2/s
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText), "proved");
  EXPECT_EQ(CheckerVerdict({{"feed -> !x input", "feed -> !w input"}}, kText),
            "plan @f: command 0 feed: found 4 bytes in gpu:0 !w; expected the "
            "2 of input 0; change the buffer's range");
  EXPECT_EQ(
      CheckerVerdict(
          {{"stream gpu:2/s", "stream gpu:2/s\n      6 feed -> !z input 0"}},
          kText),
      "plan @f: command 6 feed: found %x on gpu:2; expected a device that "
      "holds a shard of it; feed it there");
  EXPECT_EQ(CheckerVerdict({{"on {gpu:0, gpu:1} -> (split 0)) ->",
                             "on {gpu:0, gpu:1} -> (partial sum)) ->"}},
                           kText),
            "plan @f: input %x: found a partial value; expected a whole or a "
            "split one; place it again");
  EXPECT_EQ(CheckerVerdict({{"(split 0)) ->", "(split 0 by 3)) ->"}}, kText),
            "plan @f: input %x: found a sharding that does not fit it; "
            "expected one, along a dimension that it has and in a unit that "
            "divides it; place it again");
}

// Three samples of two rows: one device holds one sample, the other two.
TEST(ShardedNodes, RowsOfASampleStayTogether) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: i8[3, 2] on {gpu:0, gpu:1} -> (split 0)) -> i8[6] {
  %r = reshape %x {shape = [6]} : i8[6] on {gpu:0, gpu:1} (split 0) -> (split 0 by 2)
  %y = neg %r : i8[6] on {gpu:0, gpu:1} (split 0 by 2) -> (split 0 by 2)
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 6
  device gpu:1 cuda memory 100
    arena persistent 0 step 12
  entry @f of @f {
    input x i8[3, 2]
    output y i8[6]
    arena gpu:0
      !x 0 2
      !r 2 2
      !y 4 2
    arena gpu:1
      !x.m1 0 4
      !r.m1 4 4
      !y.m1 8 4
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %r (!x) -> !r
      2 kernel %y (!r) -> !y
      6 fetch !y output 0
    stream gpu:1/s
      3 feed -> !x.m1 input 0
      4 kernel %r rank 1 (!x.m1) -> !r.m1
      5 kernel %y rank 1 (!r.m1) -> !y.m1
      7 fetch !y.m1 output 0
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText), "proved");
  const absl::string_view reshape = "plan @f: reshape %r: found ";
  const absl::string_view neg = "plan @f: neg %y: found ";
  const absl::string_view again =
      ", or all of it on each device, as its op's dimension rule allows; place "
      "it again";
  EXPECT_EQ(
      CheckerVerdict(
          {{"(split 0) -> (split 0 by 2)", "(split 0) -> (split 0)"}}, kText),
      absl::StrCat(reshape,
                   "(split 0) -> (split 0); expected (split 0) -> (split 0 by "
                   "2)",
                   again, "\n", neg,
                   "operand 0 read as split 0 by 2; expected split 0, as %r "
                   "was made; place it again"));
  EXPECT_EQ(CheckerVerdict({{"(split 0 by 2) -> (split 0 by 2)",
                             "(split 0 by 2) -> (split 0)"}},
                           kText),
            absl::StrCat(neg,
                         "(split 0 by 2) -> (split 0); expected (split 0 by "
                         "2) -> (split 0 by 2), (split 0) -> (split 0)",
                         again));
  EXPECT_EQ(CheckerVerdict({{"(split 0 by 2)", "(split 0 by 3)"}}, kText),
            absl::StrCat(reshape,
                         "(split 0) -> (split 0 by 3); expected (split 0) -> "
                         "(split 0 by 2)",
                         again, "\n", neg,
                         "(split 0 by 3) -> (split 0 by 3); expected (split 0) "
                         "-> (split 0)",
                         again));
}

TEST(ShardedNodes, ShardsOfVariablesStartAsShardsOfTheInitialValue) {
  constexpr absl::string_view kText =
      R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f() -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on {gpu:0, gpu:1} -> (split 0)
  %n = neg %w : i8[2] on {gpu:0, gpu:1} (split 0) -> (split 0)
  return %n
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 1 step 1
  device gpu:1 cuda memory 100
    arena persistent 1 step 1
  entry @f of @f {
    output n i8[2]
    arena gpu:0
      !w persistent 0 1
      !n 0 1
    arena gpu:1
      !w.m1 persistent 0 1
      !n.m1 0 1
    persistent
      !w = %w initial i8[1] #51025a4491835505e12ef9d2eb86ceeb
      !w.m1 = %w rank 1 initial i8[1] #e3ab152fcb1762bfc9f42e6c9e93dfff
    stream gpu:0/s
      0 kernel %n (!w) -> !n
      2 fetch !n output 0
    stream gpu:1/s
      1 kernel %n rank 1 (!w.m1) -> !n.m1
      3 fetch !n.m1 output 0
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText), "proved");
  EXPECT_EQ(
      CheckerVerdict({{"#51025a4491835505e12ef9d2eb86ceeb",
                       "#e3ab152fcb1762bfc9f42e6c9e93dfff"}},
                     kText),
      "plan @f: persistent value gpu:0 !w: found other initial bytes than "
      "those of rank 0 of variable %w; expected its shard of them; name the "
      "shard's literal");
  EXPECT_EQ(CheckerVerdict(
                {{"[1, 2]\n", "#51025a4491835505e12ef9d2eb86ceeb\n"}}, kText),
            "plan @f: persistent value gpu:0 !w: found a shard of variable %w "
            "without the bytes of the whole value in this text; expected them, "
            "to compare the shard; check the plan as a file\n"
            "plan @f: persistent value gpu:1 !w.m1: found a shard of variable "
            "%w without the bytes of the whole value in this text; expected "
            "them, to compare the shard; check the plan as a file");
}

TEST(ShardedNodes, ABucketIsOneCollective) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: i8[2, 2] on {gpu:0, gpu:1}) -> (i8[2], i8[2]) {
  %s = copy %x : i8[2, 2] on {gpu:0, gpu:1} (replicated) -> (split 0)
  %p = reduce_sum %s {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %q = reduce_max %s {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial max)
  %y, %z = bucket %p, %q : i8[2], i8[2] on {gpu:0, gpu:1} (partial sum, partial max) -> (replicated, replicated)
  return %y, %z
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 8
  device gpu:1 cuda memory 100
    arena persistent 0 step 8
  entry @f of @f {
    input x i8[2, 2]
    output y i8[2]
    output z i8[2]
    arena gpu:0
      !x 0 4
      !s 0 2
      !p 4 2
      !q 6 2
    arena gpu:1
      !x.m1 0 4
      !s.m1 2 2
      !p.m1 4 2
      !q.m1 6 2
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %p (!s) -> !p
      2 kernel %q (!s) -> !q
      6 collective %y (!p, !q) -> (!p, !q) group 0
      8 fetch !p output 0
      9 fetch !q output 1
    stream gpu:1/s
      3 feed -> !x.m1 input 0
      4 kernel %p rank 1 (!s.m1) -> !p.m1
      5 kernel %q rank 1 (!s.m1) -> !q.m1
      7 collective %y rank 1 (!p.m1, !q.m1) -> (!p.m1, !q.m1) group 0
    group 0 (gpu:0/s, gpu:1/s)
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText), "proved");
  EXPECT_EQ(
      CheckerVerdict(
          {{"-> (replicated, replicated)", "-> (replicated, split 0)"}}, kText),
      "plan @f: bucket %y: found a bucket that is not one collective; "
      "expected as many results as operands, all operands partial or all "
      "split, and all results replicated; place it again");
  EXPECT_EQ(CheckerVerdict({{"(!p, !q) -> (!p, !q)", "!p -> !p"}}, kText),
            "plan @f: command 6 collective: found 1 operands and 1 results; "
            "expected the 2 and 2 of bucket %y; name one buffer for each");
  EXPECT_EQ(
      CheckerVerdict({{"(!p, !q) -> (!p, !q)", "(!p, !q) -> (!q, !p)"}}, kText),
      "plan @f: command 6 collective writes gpu:0 !p, which overlaps its "
      "own gpu:0 !p; its signature allows no such result in place; use "
      "bytes of its own\n"
      "plan @f: command 8 reads %y from gpu:0 !p (bytes 4..6), but they "
      "hold %z bytes 0..2 and not %y bytes 0..2\n"
      "plan @f: command 9 reads %z from gpu:0 !q (bytes 6..8), but they "
      "hold %y bytes 0..2 and not %z bytes 0..2");
  EXPECT_EQ(
      CheckerVerdict({{"(!p, !q) -> (!p, !q)", "(!q, !p) -> (!q, !p)"}}, kText),
      "plan @f: command 6 reads %p from gpu:0 !q (bytes 6..8), but they "
      "hold %q bytes 0..2 and not %p bytes 0..2\n"
      "plan @f: command 6 reads %q from gpu:0 !p (bytes 4..6), but they "
      "hold %p bytes 0..2 and not %q bytes 0..2\n"
      "plan @f: command 8 reads %y from gpu:0 !p (bytes 4..6), but they "
      "hold %z bytes 0..2 and not %y bytes 0..2\n"
      "plan @f: command 9 reads %z from gpu:0 !q (bytes 6..8), but they "
      "hold %y bytes 0..2 and not %z bytes 0..2");
}

}  // namespace
}  // namespace partita
