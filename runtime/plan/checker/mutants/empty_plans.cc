// Correct plans with values of zero bytes: they have no range, and order
// nobody.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

// The second constant has the offset of the first.
constexpr ShortPlan kEmptyConstant = {
    .name = "a constant of no bytes before another",
    .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %e = constant i8[0] [] on gpu:0
  %w = constant i8[2] [1, 2] on gpu:0
  %j = concat %e, %w {axis = 0} : i8[2] on gpu:0
  %y = add %j, %x : i8[2] on gpu:0
  return %y
})",
    .devices = "gpu:0 2 6",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !e persistent 0 0
        !w persistent 0 2
        !x 0 2
        !j 2 2
        !y 4 2
      persistent
        !e = %e
        !w = %w)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %j (!e, !w) -> !j
      gpu:0/s kernel %y (!j, !x) -> !y
      gpu:0/s fetch !y output 0)",
};

// Both variables begin at the same offset, and both are updated.
constexpr ShortPlan kEmptyVariable = {
    .name = "a variable of no bytes before another",
    .graph = R"(variable @e: i8[0] = i8[0] []
variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2], %n: i8[0]) -> (i8[2], i8[0]) {
  %e = variable {dtype = i8, name = "e", shape = [0]} : i8[0] on gpu:0
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %d = add %e, %n : i8[0] on gpu:0 by k {in_place = [0 -> 0]}
  %u = add %w, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @e = %d
  update @w = %u
  return %u as y, %d as m
})",
    .devices = "gpu:0 2 2",
    .declared = R"(
      input x i8[2]
      input n i8[0]
      output y i8[2]
      output m i8[0]
      arena gpu:0
        !e persistent 0 0
        !w persistent 0 2
        !x 0 2
        !n 0 0
      persistent
        !e = %e
        !w = %w)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s feed -> !n input 1
      gpu:0/s kernel %d (!e, !n) -> !e
      gpu:0/s kernel %u (!w, !x) -> !w
      gpu:0/s fetch !w output 0
      gpu:0/s fetch !e output 1)",
};

// %e has two empty rows in each micro-batch, and four in the step.
constexpr ShortPlan kEmptyInMicroBatches = {
    .name = "an input of no bytes in two micro-batches",
    .graph = R"(graph @f(%x: i8[2, 1], %e: i8[2, 0]) -> (i8[2, 1], i8[2, 0]) {
  %a = concat %e, %x {axis = 1} : i8[2, 1] on gpu:0
  %c = copy %a : i8[2, 1] on gpu:1
  return %c as y, %e as m
})",
    .devices = R"(
      gpu:0 0 6
      gpu:1 0 2)",
    .declared = R"(
      input x i8[4, 1]
      input e i8[4, 0]
      output y i8[4, 1]
      output m i8[4, 0]
      arena gpu:0
        !x 0 2
        !e 0 0
        !a0 2 2
        !a1 4 2
      arena gpu:1
        !c 0 2)",
    .launch = R"(
      gpu:0/s feed batch 0 -> !x input 0
      gpu:0/s feed batch 0 -> !e input 1
      gpu:0/s kernel %a batch 0 (!e, !x) -> !a0
      gpu:0/s fetch batch 0 !e output 1
      gpu:0/s record ev0
      gpu:1/s wait ev0
      gpu:1/s copy %c batch 0 !a0 -> !c
      gpu:1/s fetch batch 0 !c output 0
      gpu:0/s feed batch 1 -> !x input 0
      gpu:0/s feed batch 1 -> !e input 1
      gpu:0/s kernel %a batch 1 (!e, !x) -> !a1
      gpu:0/s fetch batch 1 !e output 1
      gpu:0/s record ev1
      gpu:1/s wait ev1
      gpu:1/s copy %c batch 1 !a1 -> !c
      gpu:1/s fetch batch 1 !c output 0)",
};

// Of one element gpu:0 has none, so the collective orders nothing before
// gpu:1's part: only the event orders the copy of !z.
constexpr ShortPlan kEmptyGiver = {
    .name = "all_gather in which one rank gives no byte",
    .graph =
        R"(graph @f(%x: i8[1] on {gpu:0, gpu:1} -> (split 0), %z: i8[2] on gpu:1) -> (i8[1], i8[2], i8[2]) {
  %g = copy %x : i8[1] on {gpu:0, gpu:1} (split 0) -> (replicated)
  %c = copy %z : i8[2] on gpu:0
  %n = neg %z : i8[2] on gpu:1 by k {in_place = [0 -> 0]}
  return %g as y, %c as c, %n as n
})",
    .devices = R"(
      gpu:0 0 3
      gpu:1 0 4)",
    .declared = R"(
      input x i8[1]
      input z i8[2]
      output y i8[1]
      output c i8[2]
      output n i8[2]
      arena gpu:0
        !x0 0 0
        !g0 0 1
        !c0 1 2
      arena gpu:1
        !x1 0 1
        !g1 1 1
        !z1 2 2
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s feed -> !z1 input 1
      gpu:1/s record ev0
      gpu:0/s wait ev0
      gpu:0/s copy %c !z1 -> !c0
      gpu:0/s record ev1
      gpu:0/s collective %g rank 0 !x0 -> !g0 group 0
      gpu:1/s collective %g rank 1 !x1 -> !g1 group 0
      gpu:1/s wait ev1
      gpu:1/s kernel %n (!z1) -> !z1
      gpu:0/s fetch !g0 output 0
      gpu:0/s fetch !c0 output 1
      gpu:1/s fetch !z1 output 2)",
};

// gpu:0 keeps nothing of the sum, so nothing is ordered before its part.
constexpr ShortPlan kEmptyTaker = {
    .name = "reduce_scatter in which one rank takes no byte",
    .graph =
        R"(graph @f(%x: i8[2, 1] on {gpu:0, gpu:1} -> (split 0), %z: i8[2] on gpu:0) -> (i8[1], i8[2], i8[2]) {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[1] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %s = copy %p : i8[1] on {gpu:0, gpu:1} (partial sum) -> (split 0)
  %c = copy %z : i8[2] on gpu:1
  %n = neg %z : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  return %s as y, %c as c, %n as n
})",
    .devices = R"(
      gpu:0 0 4
      gpu:1 0 5)",
    .declared = R"(
      input x i8[2, 1]
      input z i8[2]
      output y i8[1]
      output c i8[2]
      output n i8[2]
      arena gpu:0
        !x0 0 1
        !p0 1 1
        !z0 2 2
        !s0 0 0
      arena gpu:1
        !x1 0 1
        !p1 1 1
        !s1 2 1
        !c1 3 2
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %p rank 0 (!x0) -> !p0
      gpu:0/s feed -> !z0 input 1
      gpu:0/s record ev0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %p rank 1 (!x1) -> !p1
      gpu:1/s wait ev0
      gpu:1/s copy %c !z0 -> !c1
      gpu:1/s record ev1
      gpu:0/s collective %s rank 0 !p0 -> !s0 group 0
      gpu:1/s collective %s rank 1 !p1 -> !s1 group 0
      gpu:0/s wait ev1
      gpu:0/s kernel %n (!z0) -> !z0
      gpu:0/s fetch !s0 output 0
      gpu:1/s fetch !s1 output 0
      gpu:1/s fetch !c1 output 1
      gpu:0/s fetch !z0 output 2)",
};

}  // namespace

std::vector<ShortPlan> EmptyPlans() {
  return {kEmptyConstant, kEmptyVariable, kEmptyInMicroBatches, kEmptyGiver,
          kEmptyTaker};
}

}  // namespace partita
