// Correct plans in which several values share bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kInPlace = {
    .name = "a chain in place",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  %b = abs %a : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  %c = add %b, %b : i8[4] on gpu:0 by k {in_place = [0 -> 0, 1 -> 0]}
  return %c as y
})",
    .devices = "gpu:0 0 4",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x 0 4)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !x
      gpu:0/s kernel %b (!x) -> !x
      gpu:0/s kernel %c (!x, !x) -> !x
      gpu:0/s fetch !x output 0)",
};

// Operand and result have names of their own, as in the commands of programs.
constexpr ShortPlan kTwoNames = {
    .name = "in place, and a variable, under two names",
    .graph = R"(variable @w: i8[4] = i8[4] [1, 2, 3, 4]

graph @f(%x: i8[4]) -> (i8[4], i8[4]) {
  %w = variable {dtype = i8, name = "w", shape = [4]} : i8[4] on gpu:0
  %v = variable {dtype = i8, name = "w", shape = [4]} : i8[4] on gpu:0
  %a = neg %x : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  %b = add %v, %a : i8[4] on gpu:0 by k {in_place = [1 -> 0]}
  %u = neg %w : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %b, %u
})",
    .devices = "gpu:0 4 4",
    .declared = R"(
      input x i8[4]
      output b i8[4]
      output u i8[4]
      arena gpu:0
        !w persistent 0 4
        !v persistent 0 4
        !x 0 4
        !a 0 4
        !b 0 4
      persistent
        !w = %w
        !v = %v)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s kernel %b (!v, !a) -> !b
      gpu:0/s kernel %u (!w) -> !v
      gpu:0/s fetch !b output 0
      gpu:0/s fetch !w output 1)",
};

constexpr ShortPlan kViews = {
    .name = "views: reshape and concat without commands",
    .graph = R"(graph @f(%x: i8[4], %z: i8[4]) -> i8[2, 4] {
  %a = neg %x : i8[4] on gpu:0
  %b = abs %z : i8[4] on gpu:0
  %j = concat %a, %b {axis = 0} : i8[8] on gpu:0
  %r = reshape %j {shape = [2, 4]} : i8[2, 4] on gpu:0
  %y = neg %r : i8[2, 4] on gpu:0
  return %y
})",
    .devices = "gpu:0 0 16",
    .declared = R"(
      input x i8[4]
      input z i8[4]
      output y i8[2, 4]
      arena gpu:0
        !x 0 4
        !z 4 4
        !a 8 4
        !b 12 4
        !j 8 8
        !y 0 8)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/t feed -> !z input 1
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/t kernel %b (!z) -> !b
      gpu:0/t record ev0
      gpu:0/s wait ev0
      gpu:0/s kernel %y (!j) -> !y
      gpu:0/s fetch !y output 0)",
};

constexpr ShortPlan kWorkspace = {
    .name = "two streams share a workspace",
    .graph = R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %a = neg %x : i8[2] on gpu:0 by k {workspace = 2}
  %b = abs %x : i8[2] on gpu:0 by k {workspace = 2}
  return %a, %b
})",
    .devices = "gpu:0 0 66",
    .declared = R"(
      input x i8[2]
      output a i8[2]
      output b i8[2]
      arena gpu:0
        !x 0 2
        !a 2 2
        !b 4 2
        !scratch 64 2)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a workspace !scratch
      gpu:0/s record ev0
      gpu:0/t wait ev0
      gpu:0/t kernel %b (!x) -> !b workspace !scratch
      gpu:0/s fetch !a output 0
      gpu:0/t fetch !b output 1)",
};

}  // namespace

std::vector<ShortPlan> SharedBytePlans() {
  return {kInPlace, kTwoNames, kViews, kWorkspace};
}

}  // namespace partita
