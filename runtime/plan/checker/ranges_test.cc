// Ranges are compared as bytes, however a plan writes them. A message slot is
// one contiguous range.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "runtime/plan/checker/testing/plan_description.h"

namespace partita {
namespace {

// !y is !x in place; two nodes and two functions read one variable.
constexpr absl::string_view kInPlace =
    R"(variable @w: f32[2] = f32[2] [1, 2]

graph @f(%x: f32[2] on gpu:0) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:0
  %a = mul %x, %w : f32[2] on gpu:0
  %y = neg %a : f32[2] on gpu:0 by k {in_place = [0 -> 0]}
  return %y
}
graph @g(%x: f32[2] on gpu:0) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:0
  %y = add %x, %w : f32[2] on gpu:0
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 8 step 32
  entry @f of @f {
    input x f32[2]
    output y f32[2]
    arena gpu:0
      !w persistent 0 8
      !x 0 8
      !a 8 8
      !y 8 8
    persistent
      !w = %w
    stream gpu:0/s
      feed -> !x input 0
      kernel %a (!x, !w) -> !a
      kernel %y (!a) -> !y
      fetch !y output 0
  }
  entry @g of @g {
    input x f32[2]
    output y f32[2]
    arena gpu:0
      !v persistent 0 8
      !x 0 8
      !y 8 8
    persistent
      !v = %w
    stream gpu:0/s
      feed -> !x input 0
      kernel %y (!x, !v) -> !y
      fetch !y output 0
  }
}
)";

TEST(Ranges, AnInPlaceResultMayBeWrittenInAnotherWay) {
  EXPECT_EQ(CheckerVerdict({}, kInPlace), "proved");
  EXPECT_EQ(CheckerVerdict({{"!y 8 8", "!y 8 4 x 2 every 4"}}, kInPlace),
            "proved");
  EXPECT_EQ(CheckerVerdict({{"!y 8 8", "!y 8 8 x 1 every 3"}}, kInPlace),
            "proved");
}

TEST(Ranges, ASharedVariableMayBeWrittenInAnotherWay) {
  EXPECT_EQ(
      CheckerVerdict({{"!v persistent 0 8", "!v persistent 0 2 x 4 every 2"}},
                     kInPlace),
      "proved");
}

TEST(Ranges, OtherBytesStayOthers) {
  EXPECT_EQ(CheckerVerdict({{"      !y 8 8\n    persistent\n      !w",
                             "      !y 12 8\n    persistent\n      !w"}},
                           kInPlace),
            "plan @f: entry @f: command 2 kernel writes gpu:0 !y, which "
            "overlaps its own gpu:0 !a; its signature allows no such result "
            "in place; use bytes of its own");
}

// A message of 4 bytes through a slot.
constexpr absl::string_view kMessage =
    R"(graph @f(%x: i8[4] on gpu:0) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0
  %c = copy %a : i8[4] on gpu:1
  return %c
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 8
  device gpu:1 cuda memory 100
    arena persistent 0 step 16
  entry @f of @f {
    input x i8[4]
    output c i8[4]
    arena gpu:0
      !x 0 4
      !a 4 4
    arena gpu:1
      !c 0 4
      !slot 4 4
    stream gpu:0/s
      feed -> !x input 0
      kernel %a (!x) -> !a
      send %c !a channel 0
    stream gpu:1/s
      recv %c -> !c channel 0
      fetch !c output 0
    channel 0 gpu:0/s -> gpu:1/s capacity 1 slots (!slot)
  }
}
)";

// The executor writes a message contiguously, and would overwrite the bytes
// between the blocks.
TEST(Ranges, AMessageSlotIsOneBlock) {
  EXPECT_EQ(CheckerVerdict({}, kMessage), "proved");
  EXPECT_EQ(CheckerVerdict({{"!slot 4 4", "!slot 4 2 x 2 every 2"}}, kMessage),
            "proved");
  EXPECT_EQ(CheckerVerdict({{"!slot 4 4", "!slot 4 2 x 2 every 8"}}, kMessage),
            "plan @f: found the message slot gpu:1 !slot in 2 blocks; expected "
            "one block, as a message is contiguous in its slot; use a buffer "
            "of one block");
}

}  // namespace
}  // namespace partita
