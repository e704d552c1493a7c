// Correct plans whose commands are ordered by streams and events.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kOneStream = {
    .name = "one stream, memory used again",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0
  %b = abs %a : i8[4] on gpu:0
  return %b as y
})",
    .devices = "gpu:0 0 8",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x 0 4
        !a 4 4
        !b 0 4)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s kernel %b (!a) -> !b
      gpu:0/s fetch !b output 0)",
};

constexpr ShortPlan kTwoStreams = {
    .name = "two streams of one device",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0
  %b = abs %a : i8[4] on gpu:0
  return %b as y
})",
    .devices = "gpu:0 0 12",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x 0 4
        !a 4 4
        !b 8 4)",
    .launch = R"(
      gpu:0/io feed -> !x input 0
      gpu:0/io record ev0
      gpu:0/s wait ev0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s kernel %b (!a) -> !b
      gpu:0/s record ev1
      gpu:0/io wait ev1
      gpu:0/io fetch !b output 0)",
};

constexpr ShortPlan kMlp = {
    .name = "two layers on two devices",
    .graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %w1 = constant i8[4] [1, 2, 3, 4] on gpu:0
  %w2 = constant i8[4] [5, 6, 7, 8] on gpu:1
  %a = mul %x, %w1 : i8[4] on gpu:0
  %h = abs %a : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  %c = copy %h : i8[4] on gpu:1
  %y = add %c, %w2 : i8[4] on gpu:1
  return %y
})",
    .devices = R"(
      gpu:0 4 8
      gpu:1 4 8)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !w1 persistent 0 4
        !x 0 4
        !a 4 4
      arena gpu:1
        !w2 persistent 0 4
        !h 0 4
        !y 4 4
      persistent
        !w1 = %w1
        !w2 = %w2)",
    .launch = R"(
      gpu:0/compute feed -> !x input 0
      gpu:0/compute kernel %a (!x, !w1) -> !a
      gpu:0/compute kernel %h (!a) -> !a
      gpu:0/compute record ev0
      gpu:0/copy wait ev0
      gpu:0/copy copy %c !a -> !h
      gpu:0/copy record ev1
      gpu:1/compute wait ev1
      gpu:1/compute kernel %y (!h, !w2) -> !y
      gpu:1/compute fetch !y output 0)",
};

constexpr ShortPlan kReuse = {
    .name = "a sent buffer is overwritten after its copy",
    .graph = R"(graph @f(%x: i8[4]) -> (i8[4], i8[4]) {
  %a = neg %x : i8[4] on gpu:0
  %c = copy %a : i8[4] on gpu:1
  %y = abs %c : i8[4] on gpu:1 by k {in_place = [0 -> 0]}
  %z = abs %x : i8[4] on gpu:0
  return %y, %z
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 4)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      output z i8[4]
      arena gpu:0
        !x 0 4
        !a 4 4
      arena gpu:1
        !c 0 4
      arena gpu:0
        !z 4 4)",
    .launch = R"(
      gpu:0/compute feed -> !x input 0
      gpu:0/compute kernel %a (!x) -> !a
      gpu:0/compute record ev0
      gpu:1/compute wait ev0
      gpu:1/compute copy %c !a -> !c
      gpu:1/compute record ev1
      gpu:0/compute wait ev1
      gpu:0/compute kernel %z (!x) -> !z
      gpu:0/compute fetch !z output 1
      gpu:1/compute kernel %y (!c) -> !c
      gpu:1/compute fetch !c output 0)",
};

constexpr ShortPlan kDiamond = {
    .name = "fork and join over three streams",
    .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %b = abs %x : i8[2] on gpu:0
  %y = add %a, %b : i8[2] on gpu:0
  return %y
})",
    .devices = "gpu:0 0 6",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !x 0 2
        !a 2 2
        !b 4 2)",
    .launch = R"(
      gpu:0/r feed -> !x input 0
      gpu:0/r record ev0
      gpu:0/s wait ev0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s record ev1
      gpu:0/t wait ev0
      gpu:0/t kernel %b (!x) -> !b
      gpu:0/t record ev2
      gpu:0/r wait ev1
      gpu:0/r wait ev2
      gpu:0/r kernel %y (!a, !b) -> !x
      gpu:0/r fetch !x output 0)",
};

}  // namespace

std::vector<ShortPlan> OrderPlans() {
  return {kOneStream, kTwoStreams, kMlp, kReuse, kDiamond};
}

}  // namespace partita
