// Correct plans that copy through the host, in parts, or as blocks.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kOffload = {
    .name = "a value waits on the host",
    .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %host = copy %a : i8[2] on cpu:0
  %b = abs %x : i8[2] on gpu:0
  %back = copy %host : i8[2] on gpu:0
  %y = add %b, %back : i8[2] on gpu:0
  return %y
})",
    .devices = R"(
      gpu:0 0 6
      cpu:0 0 2)",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !x 0 2
        !a 2 2
        !b 2 2
        !back 4 2
      arena cpu:0
        !host 0 2)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s record ev0
      gpu:0/out wait ev0
      gpu:0/out copy %host !a -> !host
      gpu:0/out record ev1
      gpu:0/s wait ev1
      gpu:0/s kernel %b (!x) -> !b
      gpu:0/out copy %back !host -> !back
      gpu:0/out record ev2
      gpu:0/s wait ev2
      gpu:0/s kernel %y (!b, !back) -> !x
      gpu:0/s fetch !x output 0)",
};

constexpr ShortPlan kHalves = {
    .name = "one copy in two halves on two streams",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0
  %c = copy %a : i8[4] on gpu:1
  %y = abs %c : i8[4] on gpu:1
  return %y
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 8)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x 0 4
        !a 4 4
        !low 4 2
        !high 6 2
      arena gpu:1
        !c 0 4
        !clow 0 2
        !chigh 2 2
        !y 4 4)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s record ev0
      gpu:0/s copy %c !low -> !clow
      gpu:0/s record ev1
      gpu:1/t wait ev0
      gpu:1/t copy %c !high -> !chigh
      gpu:1/t wait ev1
      gpu:1/t kernel %y (!c) -> !y
      gpu:1/t fetch !y output 0)",
};

constexpr ShortPlan kColumns = {
    .name = "columns of a matrix are copied as blocks",
    .graph = R"(graph @f(%x: i8[2, 4]) -> i8[2, 4] {
  %a = neg %x : i8[2, 4] on gpu:0
  %s = copy %a : i8[2, 4] on {gpu:0, gpu:1} (replicated) -> (split 1)
  %y = abs %s : i8[2, 4] on {gpu:0, gpu:1} (split 1) -> (split 1) by k {in_place = [0 -> 0]}
  return %y
})",
    .devices = R"(
      gpu:0 0 20
      gpu:1 0 4)",
    .declared = R"(
      input x i8[2, 4]
      output y i8[2, 4]
      arena gpu:0
        !x 0 8
        !a 8 8
        !left 8 2 x 2 every 4
        !right 10 2 x 2 every 4
        !s0 16 4
      arena gpu:1
        !s1 0 4)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s record ev0
      gpu:0/s copy %s rank 0 !left -> !s0
      gpu:1/s wait ev0
      gpu:1/s copy %s rank 1 !right -> !s1
      gpu:0/s kernel %y rank 0 (!s0) -> !s0
      gpu:1/s kernel %y rank 1 (!s1) -> !s1
      gpu:0/s fetch !s0 output 0
      gpu:1/s fetch !s1 output 0)",
};

}  // namespace

std::vector<ShortPlan> CopyPlans() { return {kOffload, kHalves, kColumns}; }

}  // namespace partita
