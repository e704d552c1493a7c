// Correct plans whose steps overlap, or pass a variable on to the next step.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kDepthTwo = {
    .name = "two steps overlap",
    .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %w = constant i8[2] [1, 2] on gpu:0
  %a = mul %x, %w : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  return %c as y
})",
    .devices = R"(
      gpu:0 2 4
      gpu:1 0 2)",
    .declared = R"(
      depth 2
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !w persistent 0 2
        !x 0 2
        !a 2 2
      arena gpu:1
        !c 0 2
      persistent
        !w = %w)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x, !w) -> !a
      gpu:0/s record ev0
      gpu:1/s wait ev0
      gpu:1/s copy %c !a -> !c
      gpu:1/s fetch !c output 0)",
};

constexpr ShortPlan kUpdate = {
    .name = "a variable is updated in place",
    .graph = R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %y = mul %x, %w : i8[2] on gpu:0
  %u = add %w, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %y
})",
    .devices = "gpu:0 2 4",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !w persistent 0 2
        !x 0 2
        !y 2 2
      persistent
        !w = %w)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %y (!x, !w) -> !y
      gpu:0/s record ev0
      gpu:0/s kernel %u (!w, !x) -> !w
      gpu:0/out wait ev0
      gpu:0/out fetch !y output 0)",
};

// gpu:1 holds its shard, and the whole value.
constexpr ShortPlan kPartsAndWhole = {
    .name = "a variable in parts and whole",
    .graph = R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f() -> (i8[2], i8[2]) {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:1
  %p = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on {gpu:0, gpu:1} -> (split 0)
  %n = neg %p : i8[2] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %y = abs %w : i8[2] on gpu:1
  %a = copy %n : i8[2] on gpu:1
  return %a, %y
})",
    .devices = R"(
      gpu:0 1 1
      gpu:1 3 4)",
    .declared = R"(
      output a i8[2]
      output y i8[2]
      arena gpu:0
        !p0 persistent 0 1
        !n0 0 1
      arena gpu:1
        !w persistent 0 2
        !p1 persistent 2 1
        !n1 1 1
        !a0 0 1
        !a 0 2
        !y 2 2
      persistent
        !w = %w
        !p0 = %p
        !p1 = %p rank 1)",
    .launch = R"(
      gpu:0/s kernel %n rank 0 (!p0) -> !n0
      gpu:0/s copy %a !n0 -> !a0
      gpu:0/s record ev0
      gpu:1/s kernel %n rank 1 (!p1) -> !n1
      gpu:1/s kernel %y (!w) -> !y
      gpu:1/s wait ev0
      gpu:1/s fetch !a output 0
      gpu:1/s fetch !y output 1)",
};

constexpr ShortPlan kReplicas = {
    .name = "a variable on two devices gets one update",
    .graph = R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w0 = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %w1 = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:1
  %u = add %w0, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  %c = copy %u : i8[2] on gpu:1
  %y = neg %w1 : i8[2] on gpu:1
  update @w = %u
  return %y
})",
    .devices = R"(
      gpu:0 2 4
      gpu:1 2 2)",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !w0 persistent 0 2
        !x 0 2
      arena gpu:1
        !w1 persistent 0 2
        !y 0 2
      persistent
        !w0 = %w0
        !w1 = %w1)",
    .launch = R"(
      gpu:1/s kernel %y (!w1) -> !y
      gpu:1/s record ev0
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %u (!w0, !x) -> !w0
      gpu:0/s wait ev0
      gpu:0/s copy %c !w0 -> !w1
      gpu:1/s fetch !y output 0)",
};

constexpr ShortPlan kDeepUpdate = {
    .name = "overlapping steps share a variable",
    .graph = R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %y = mul %x, %w : i8[2] on gpu:0
  %u = add %w, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %y
})",
    .devices = "gpu:0 2 4",
    .declared = R"(
      depth 2
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !w persistent 0 2
        !x 0 2
        !y 2 2
      persistent
        !w = %w)",
    .launch = R"(
      gpu:0/in feed -> !x input 0
      gpu:0/in record ev0
      gpu:0/s wait ev0
      gpu:0/s kernel %y (!x, !w) -> !y
      gpu:0/s kernel %u (!w, !x) -> !w
      gpu:0/s fetch !y output 0)",
};

}  // namespace

std::vector<ShortPlan> StepPlans() {
  return {kDepthTwo, kUpdate, kPartsAndWhole, kReplicas, kDeepUpdate};
}

}  // namespace partita
