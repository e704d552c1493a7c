// Correct plans that send messages through channels.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kChannel = {
    .name = "a channel of one slot",
    .graph = R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %a = neg %x : i8[2] on gpu:0
  %b = abs %a : i8[2] on gpu:0
  %ca = copy %a : i8[2] on gpu:1
  %cb = copy %b : i8[2] on gpu:1
  return %ca as a, %cb as b
})",
    .devices = R"(
      gpu:0 0 6
      gpu:1 0 6)",
    .declared = R"(
      input x i8[2]
      output a i8[2]
      output b i8[2]
      arena gpu:0
        !x 0 2
        !a 2 2
        !b 4 2
      arena gpu:1
        !ca 0 2
        !cb 2 2
        !slot 4 2
      channel 0 gpu:0/s -> gpu:1/s capacity 1 slots (!slot))",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s send %ca !a channel 0
      gpu:0/s kernel %b (!a) -> !b
      gpu:1/s recv %ca -> !ca channel 0
      gpu:0/s send %cb !b channel 0
      gpu:1/s fetch !ca output 0
      gpu:1/s recv %cb -> !cb channel 0
      gpu:1/s fetch !cb output 1)",
};

constexpr ShortPlan kWideChannel = {
    .name = "a channel of two slots, messages under way together",
    .graph = R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %a = neg %x : i8[2] on gpu:0
  %b = abs %x : i8[2] on gpu:0
  %ca = copy %a : i8[2] on gpu:1
  %cb = copy %b : i8[2] on gpu:1
  %y = neg %ca : i8[2] on gpu:1 by k {in_place = [0 -> 0]}
  return %y, %cb as b
})",
    .devices = R"(
      gpu:0 0 4
      gpu:1 0 6)",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      output b i8[2]
      arena gpu:0
        !x 0 2
        !a 2 2
      arena gpu:1
        !c 0 2
        !slot0 2 2
        !slot1 4 2
      channel 0 gpu:0/s -> gpu:1/s capacity 2 slots (!slot0, !slot1))",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s send %ca !a channel 0
      gpu:0/s kernel %b (!x) -> !a
      gpu:0/s send %cb !a channel 0
      gpu:1/s recv %ca -> !c channel 0
      gpu:1/s kernel %y (!c) -> !c
      gpu:1/s fetch !c output 0
      gpu:1/s recv %cb -> !c channel 0
      gpu:1/s fetch !c output 1)",
};

constexpr ShortPlan kRendezvous = {
    .name = "a message without a slot, there and back",
    .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %there = copy %a : i8[2] on gpu:1
  %b = abs %there : i8[2] on gpu:1
  %back = copy %b : i8[2] on gpu:0
  %y = add %back, %a : i8[2] on gpu:0
  return %y
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 4)",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !x 0 2
        !a 2 2
        !back 4 2
        !y 6 2
      arena gpu:1
        !there 0 2
        !b 2 2
      channel 0 gpu:0/s -> gpu:1/s capacity 0
      channel 1 gpu:1/s -> gpu:0/s capacity 0)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:0/s send %there !a channel 0
      gpu:1/s recv %there -> !there channel 0
      gpu:1/s kernel %b (!there) -> !b
      gpu:1/s send %back !b channel 1
      gpu:0/s recv %back -> !back channel 1
      gpu:0/s kernel %y (!back, !a) -> !y
      gpu:0/s fetch !y output 0)",
};

// Both ends are strided, the slot is one block, and other values are stored on
// both sides of it.
constexpr ShortPlan kColumnsSent = {
    .name = "columns are sent through a slot between other values",
    .graph =
        R"(graph @f(%x: i8[2, 4], %z: i8[2] on gpu:1) -> (i8[2, 2], i8[2]) {
  %a = neg %x : i8[2, 4] on gpu:0
  %s = slice %a {sizes = [2, 2], starts = [0, 2]} : i8[2, 2] on gpu:0
  %c = copy %s : i8[2, 2] on gpu:1
  %n = neg %z : i8[2] on gpu:1
  %y = abs %c : i8[2, 2] on gpu:1 by k {in_place = [0 -> 0]}
  return %y, %n
})",
    .devices = R"(
      gpu:0 0 16
      gpu:1 0 12)",
    .declared = R"(
      input x i8[2, 4]
      input z i8[2]
      output y i8[2, 2]
      output n i8[2]
      arena gpu:0
        !x 0 8
        !a 8 8
        !right 10 2 x 2 every 4
      arena gpu:1
        !z 0 2
        !slot 2 4
        !n 6 2
        !c 8 4
      channel 0 gpu:0/s -> gpu:1/s capacity 1 slots (!slot))",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %a (!x) -> !a
      gpu:1/s feed -> !z input 1
      gpu:1/s kernel %n (!z) -> !n
      gpu:0/s send %c !right channel 0
      gpu:1/s recv %c -> !c channel 0
      gpu:1/s kernel %y (!c) -> !c
      gpu:1/s fetch !c output 0
      gpu:1/s fetch !n output 1)",
};

}  // namespace

std::vector<ShortPlan> MessagePlans() {
  return {kChannel, kWideChannel, kRendezvous, kColumnsSent};
}

}  // namespace partita
