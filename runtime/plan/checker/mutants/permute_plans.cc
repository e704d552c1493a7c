// Correct plans in which values move unchanged to other devices: broadcasts and
// permutes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

// The root waits for no other rank, and may go on once its own part has ended.
constexpr ShortPlan kBroadcast = {
    .name = "broadcast, then the root's memory used again",
    .graph = R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %h = neg %x : i8[2] on gpu:0
  %g = copy %h : i8[2] on {gpu:0, gpu:1}
  %a = sign %x : i8[2] on gpu:0
  %b = abs %g : i8[2] on gpu:1
  return %a, %b
})",
    .devices = R"(
      gpu:0 0 4
      gpu:1 0 4)",
    .declared = R"(
      input x i8[2]
      output a i8[2]
      output b i8[2]
      arena gpu:0
        !x0 0 2
        !h0 2 2
      arena gpu:1
        !g1 0 2
        !b1 2 2
      group 0 (gpu:0/c, gpu:1/c))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h (!x0) -> !h0
      gpu:0/s record ev0
      gpu:0/c wait ev0
      gpu:0/c collective %g !h0 group 0
      gpu:1/c collective %g rank 1 -> !g1 group 0
      gpu:0/c record ev1
      gpu:0/s wait ev1
      gpu:0/s kernel %a (!x0) -> !h0
      gpu:0/s fetch !h0 output 0
      gpu:1/c kernel %b (!g1) -> !b1
      gpu:1/c fetch !b1 output 1)",
};

// The node is not on the root: the root's rank comes after the node's ranks.
constexpr ShortPlan kFromOutside = {
    .name = "broadcast to two devices from a third",
    .graph = R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %h = neg %x : i8[2] on cpu:0
  %g = copy %h : i8[2] on {gpu:0, gpu:1}
  %a = sign %g : i8[2] on gpu:0
  %b = abs %g : i8[2] on gpu:1
  return %a, %b
})",
    .devices = R"(
      cpu:0 0 4
      gpu:0 0 4
      gpu:1 0 4)",
    .declared = R"(
      input x i8[2]
      output a i8[2]
      output b i8[2]
      arena cpu:0
        !x0 0 2
        !h0 2 2
      arena gpu:0
        !g0 0 2
        !a0 2 2
      arena gpu:1
        !g1 0 2
        !b1 2 2
      group 0 (gpu:0/s, gpu:1/s, cpu:0/s))",
    .launch = R"(
      cpu:0/s feed -> !x0 input 0
      cpu:0/s kernel %h (!x0) -> !h0
      gpu:0/s collective %g -> !g0 group 0
      gpu:1/s collective %g rank 1 -> !g1 group 0
      cpu:0/s collective %g rank 2 !h0 group 0
      gpu:0/s kernel %a (!g0) -> !a0
      gpu:0/s fetch !a0 output 0
      gpu:1/s kernel %b (!g1) -> !b1
      gpu:1/s fetch !b1 output 1)",
};

// Each device gives one half and takes the other.
constexpr ShortPlan kSwap = {
    .name = "permute of two halves, then memory used again",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %h = neg %x : i8[4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %g = copy %h : i8[4] on {gpu:1, gpu:0} (split 0) -> (split 0)
  %y = abs %g : i8[4] on {gpu:1, gpu:0} (split 0) -> (split 0)
  return %y
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 8)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x0 0 4
        !low0 0 2
        !h0 4 2
        !g0 6 2
      arena gpu:1
        !x1 0 4
        !high1 2 2
        !h1 4 2
        !g1 6 2
      group 0 (gpu:1/c, gpu:0/c))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h (!low0) -> !h0
      gpu:0/s record ev0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %h rank 1 (!high1) -> !h1
      gpu:1/s record ev1
      gpu:0/c wait ev0
      gpu:1/c wait ev1
      gpu:1/c collective %g !h1 -> !g1 group 0
      gpu:0/c collective %g rank 1 !h0 -> !g0 group 0
      gpu:0/c record ev2
      gpu:1/c record ev3
      gpu:0/s wait ev2
      gpu:1/s wait ev3
      gpu:0/s kernel %y rank 1 (!g0) -> !h0
      gpu:1/s kernel %y (!g1) -> !h1
      gpu:0/s fetch !h0 output 0
      gpu:1/s fetch !h1 output 0)",
};

// gpu:1 takes the first part and gives the second. gpu:0 only gives, gpu:2 only
// takes. What gpu:1 gives does not depend on what it takes.
constexpr ShortPlan kShift = {
    .name = "permute to the next device",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %h = neg %x : i8[4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %g = copy %h : i8[4] on {gpu:1, gpu:2} (split 0) -> (split 0)
  return %g as y
})",
    .devices = R"(
      gpu:0 0 6
      gpu:1 0 6
      gpu:2 0 2)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x0 0 4
        !low0 0 2
        !h0 4 2
      arena gpu:1
        !x1 0 4
        !high1 2 2
        !h1 4 2
        !g1 0 2
      arena gpu:2
        !g2 0 2
      group 0 (gpu:1/s, gpu:2/s, gpu:0/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h (!low0) -> !h0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %h rank 1 (!high1) -> !h1
      gpu:1/s collective %g !h1 -> !g1 group 0
      gpu:2/s collective %g rank 1 -> !g2 group 0
      gpu:0/s collective %g rank 2 !h0 group 0
      gpu:1/s fetch !g1 output 0
      gpu:2/s fetch !g2 output 0)",
};

}  // namespace

std::vector<ShortPlan> PermutePlans() {
  return {kBroadcast, kFromOutside, kSwap, kShift};
}

}  // namespace partita
