// Correct plans with collectives, one of each kind.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kAllReduce = {
    .name = "all_reduce of partial sums",
    .graph = R"(graph @f(%x: i8[2, 2]) -> i8[2] {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %r = copy %p : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  %y = abs %r : i8[2] on {gpu:0, gpu:1} (replicated) -> (replicated)
  %z = copy %y : i8[2] on gpu:0
  return %z as y
})",
    .devices = R"(
      gpu:0 0 10
      gpu:1 0 8)",
    .declared = R"(
      input x i8[2, 2]
      output y i8[2]
      arena gpu:0
        !x0 0 4
        !row0 0 2
        !p0 4 2
        !r0 6 2
        !y0 8 2
      arena gpu:1
        !x1 0 4
        !row1 2 2
        !p1 4 2
        !r1 6 2
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %p rank 0 (!row0) -> !p0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %p rank 1 (!row1) -> !p1
      gpu:0/s collective %r rank 0 !p0 -> !r0 group 0
      gpu:1/s collective %r rank 1 !p1 -> !r1 group 0
      gpu:0/s kernel %y rank 0 (!r0) -> !y0
      gpu:0/s fetch !y0 output 0)",
};

// The sum goes to other bytes, the maximum stays in place.
constexpr ShortPlan kBucket = {
    .name = "all_reduce of a bucket of two",
    .graph = R"(graph @f(%x: i8[2, 2]) -> i8[2] {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %q = reduce_max %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial max)
  %r, %s = bucket %p, %q : i8[2], i8[2] on {gpu:0, gpu:1} (partial sum, partial max) -> (replicated, replicated)
  %y = sub %r, %s : i8[2] on {gpu:0, gpu:1} (replicated, replicated) -> (replicated)
  %z = copy %y : i8[2] on gpu:0
  return %z as y
})",
    .devices = R"(
      gpu:0 0 12
      gpu:1 0 10)",
    .declared = R"(
      input x i8[2, 2]
      output y i8[2]
      arena gpu:0
        !x0 0 4
        !row0 0 2
        !p0 4 2
        !q0 6 2
        !r0 8 2
        !y0 10 2
      arena gpu:1
        !x1 0 4
        !row1 2 2
        !p1 4 2
        !q1 6 2
        !r1 8 2
      group 0 (gpu:0/c, gpu:1/c))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %p rank 0 (!row0) -> !p0
      gpu:0/s kernel %q rank 0 (!row0) -> !q0
      gpu:0/s record ev0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %p rank 1 (!row1) -> !p1
      gpu:1/s kernel %q rank 1 (!row1) -> !q1
      gpu:1/s record ev1
      gpu:0/c wait ev0
      gpu:1/c wait ev1
      gpu:0/c collective %r rank 0 (!p0, !q0) -> (!r0, !q0) group 0
      gpu:1/c collective %r rank 1 (!p1, !q1) -> (!r1, !q1) group 0
      gpu:0/c record ev2
      gpu:0/s wait ev2
      gpu:0/s kernel %y rank 0 (!r0, !q0) -> !y0
      gpu:0/s fetch !y0 output 0)",
};

// Sharded by columns, so that a rank's feed is not contiguous in the caller's
// bytes.
constexpr ShortPlan kFedInParts = {
    .name = "an input that arrives in parts",
    .graph =
        R"(graph @f(%x: i8[2, 4] on {gpu:0, gpu:1} -> (split 1)) -> i8[2, 4] {
  %h = neg %x : i8[2, 4] on {gpu:0, gpu:1} (split 1) -> (split 1)
  return %h as y
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 8)",
    .declared = R"(
      input x i8[2, 4]
      output y i8[2, 4]
      arena gpu:0
        !x0 0 4
        !h0 4 4
      arena gpu:1
        !x1 0 4
        !h1 4 4)",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:1/s feed -> !x1 input 0
      gpu:0/s kernel %h rank 0 (!x0) -> !h0
      gpu:1/s kernel %h rank 1 (!x1) -> !h1
      gpu:0/s fetch !h0 output 0
      gpu:1/s fetch !h1 output 0)",
};

constexpr ShortPlan kAllGather = {
    .name = "all_gather of split rows, then memory used again",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %h = neg %x : i8[4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %g = copy %h : i8[4] on {gpu:0, gpu:1} (split 0) -> (replicated)
  %y = abs %g : i8[4] on {gpu:0, gpu:1} (replicated) -> (replicated)
  return %y
})",
    .devices = R"(
      gpu:0 0 10
      gpu:1 0 10)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x0 0 4
        !half0 0 2
        !h0 4 2
        !g0 6 4
      arena gpu:1
        !x1 0 4
        !half1 2 2
        !h1 4 2
        !g1 6 4
      group 0 (gpu:0/c, gpu:1/c))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h rank 0 (!half0) -> !h0
      gpu:0/s record ev0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %h rank 1 (!half1) -> !h1
      gpu:1/s record ev1
      gpu:0/c wait ev0
      gpu:1/c wait ev1
      gpu:0/c collective %g rank 0 !h0 -> !g0 group 0
      gpu:1/c collective %g rank 1 !h1 -> !g1 group 0
      gpu:0/c record ev2
      gpu:0/s wait ev2
      gpu:0/s kernel %y rank 0 (!g0) -> !x0
      gpu:0/s fetch !x0 output 0)",
};

// One value goes to other bytes; each shard of the other value is in place.
constexpr ShortPlan kBucketOfParts = {
    .name = "all_gather of a bucket of two",
    .graph =
        R"(graph @f(%x: i8[2] on {gpu:0, gpu:1} -> (split 0)) -> i8[2] {
  %h = neg %x : i8[2] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %a = abs %x : i8[2] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %g, %k = bucket %h, %a : i8[2], i8[2] on {gpu:0, gpu:1} (split 0, split 0) -> (replicated, replicated)
  %y = sub %g, %k : i8[2] on {gpu:0, gpu:1} (replicated, replicated) -> (replicated)
  %z = copy %y : i8[2] on gpu:0
  return %z as y
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 6)",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !x0 0 1
        !h0 1 1
        !g0 2 2
        !a0 4 1
        !k0 4 2
        !y0 6 2
      arena gpu:1
        !x1 0 1
        !h1 1 1
        !g1 2 2
        !a1 5 1
        !k1 4 2
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h rank 0 (!x0) -> !h0
      gpu:0/s kernel %a rank 0 (!x0) -> !a0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %h rank 1 (!x1) -> !h1
      gpu:1/s kernel %a rank 1 (!x1) -> !a1
      gpu:0/s collective %g rank 0 (!h0, !a0) -> (!g0, !k0) group 0
      gpu:1/s collective %g rank 1 (!h1, !a1) -> (!g1, !k1) group 0
      gpu:0/s kernel %y rank 0 (!g0, !k0) -> !y0
      gpu:0/s fetch !y0 output 0)",
};

constexpr ShortPlan kReduceScatter = {
    .name = "reduce_scatter and all_gather in place",
    .graph = R"(graph @f(%x: i8[2, 4]) -> i8[4] {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[4] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %s = copy %p : i8[4] on {gpu:0, gpu:1} (partial sum) -> (split 0)
  %g = copy %s : i8[4] on {gpu:0, gpu:1} (split 0) -> (replicated)
  return %g as y
})",
    .devices = R"(
      gpu:0 0 12
      gpu:1 0 12)",
    .declared = R"(
      input x i8[2, 4]
      output y i8[4]
      arena gpu:0
        !x0 0 8
        !row0 0 4
        !p0 8 4
        !s0 8 2
      arena gpu:1
        !x1 0 8
        !row1 4 4
        !p1 8 4
        !s1 10 2
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %p rank 0 (!row0) -> !p0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %p rank 1 (!row1) -> !p1
      gpu:0/s collective %s rank 0 !p0 -> !s0 group 0
      gpu:1/s collective %s rank 1 !p1 -> !s1 group 0
      gpu:0/s collective %g rank 0 !s0 -> !p0 group 0
      gpu:1/s collective %g rank 1 !s1 -> !p1 group 0
      gpu:0/s fetch !p0 output 0)",
};

constexpr ShortPlan kAllToAll = {
    .name = "all_to_all from rows to columns",
    .graph = R"(graph @f(%x: i8[2, 2]) -> i8[2, 2] {
  %h = neg %x : i8[2, 2] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %t = copy %h : i8[2, 2] on {gpu:0, gpu:1} (split 0) -> (split 1)
  %y = abs %t : i8[2, 2] on {gpu:0, gpu:1} (split 1) -> (split 1)
  return %y
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 8)",
    .declared = R"(
      input x i8[2, 2]
      output y i8[2, 2]
      arena gpu:0
        !x0 0 4
        !row0 0 2
        !h0 4 2
        !t0 6 2
      arena gpu:1
        !x1 0 4
        !row1 2 2
        !h1 4 2
        !t1 6 2
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h rank 0 (!row0) -> !h0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %h rank 1 (!row1) -> !h1
      gpu:0/s collective %t rank 0 !h0 -> !t0 group 0
      gpu:1/s collective %t rank 1 !h1 -> !t1 group 0
      gpu:0/s kernel %y rank 0 (!t0) -> !h0
      gpu:1/s kernel %y rank 1 (!t1) -> !h1
      gpu:0/s fetch !h0 output 0
      gpu:1/s fetch !h1 output 0)",
};

// The second device holds two units of three, and takes an index of the other
// device's three.
constexpr ShortPlan kOtherUnits = {
    .name = "all_to_all between units of one dimension",
    .graph =
        R"(graph @f(%x: i8[6] on {gpu:0, gpu:1} -> (split 0)) -> i8[6] {
  %t = copy %x : i8[6] on {gpu:0, gpu:1} (split 0) -> (split 0 by 2)
  %y = neg %t : i8[6] on {gpu:0, gpu:1} (split 0 by 2) -> (split 0 by 2)
  return %y
})",
    .devices = R"(
      gpu:0 0 5
      gpu:1 0 8)",
    .declared = R"(
      input x i8[6]
      output y i8[6]
      arena gpu:0
        !x0 0 3
        !t0 3 2
        !y0 0 2
      arena gpu:1
        !x1 0 3
        !t1 4 4
        !y1 0 4
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:1/s feed -> !x1 input 0
      gpu:0/s collective %t rank 0 !x0 -> !t0 group 0
      gpu:1/s collective %t rank 1 !x1 -> !t1 group 0
      gpu:0/s kernel %y rank 0 (!t0) -> !y0
      gpu:1/s kernel %y rank 1 (!t1) -> !y1
      gpu:0/s fetch !y0 output 0
      gpu:1/s fetch !y1 output 0)",
};

}  // namespace

std::vector<ShortPlan> CollectivePlans() {
  return {kAllReduce,     kBucket,        kFedInParts, kAllGather,
          kBucketOfParts, kReduceScatter, kAllToAll,   kOtherUnits};
}

}  // namespace partita
