// What the checker says of inputs and outputs that have other types than the
// graph's values: callers see the port's.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "runtime/plan/checker/said_of_plan.h"

namespace partita {
namespace {

// One micro-batch; with two, each has two rows of four.
constexpr absl::string_view kNeg =
    R"(graph @f(%x: f32[2, 4] on gpu:0) -> f32[2, 4] {
  %y = neg %x : f32[2, 4] on gpu:0
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 64
  entry @f of @f {
    input x f32[2, 4]
    output y f32[2, 4]
    arena gpu:0
      !x 0 32
      !y 32 32
    stream gpu:0/s
      feed -> !x input 0
      kernel %y (!x) -> !y
      fetch !y output 0
  }
}
)";

constexpr absl::string_view kSecondBatch =
    "      fetch !y output 0\n"
    "      feed batch 1 -> !x input 0\n"
    "      kernel %y batch 1 (!x) -> !y\n"
    "      fetch batch 1 !y output 0\n";

TEST(Ports, HaveTheTypesOfTheirValues) {
  EXPECT_EQ(Said({}, kNeg), "proved");
  EXPECT_EQ(Said({{"input x f32[2, 4]", "input x i32[2, 4]"}}, kNeg),
            "plan @f: input 0 x: found i32[2, 4]; expected f32[2, 4]; change "
            "the port's type");
}

// As many bytes in other dims are another shape to the caller.
TEST(Ports, HaveTheDimsOfTheirValues) {
  for (const char* dims : {"1, 2, 4", "2, 4, 1", "8", "4, 2"}) {
    EXPECT_EQ(Said({{"output y f32[2, 4]",
                     std::string("output y f32[") + dims + "]"}},
                   kNeg),
              std::string("plan @f: output 0 y: found f32[") + dims +
                  "]; expected f32[2, 4]; change the port's type");
  }
}

TEST(Ports, OfMicroBatchesHaveRoomForAll) {
  const TextChanges two = {{"input x f32[2, 4]", "input x f32[4, 4]"},
                           {"output y f32[2, 4]", "output y f32[4, 4]"},
                           {"      fetch !y output 0\n", kSecondBatch}};
  EXPECT_EQ(Said(two, kNeg), "proved");
  const TextChanges wider = {{"input x f32[2, 4]", "input x f32[2, 8]"},
                             {"output y f32[2, 4]", "output y f32[4, 4]"},
                             {"      fetch !y output 0\n", kSecondBatch}};
  EXPECT_EQ(Said(wider, kNeg),
            "plan @f: input 0 x: found f32[2, 8]; expected f32[2, 4] or "
            "f32[4, 4] or f32[2, 2, 4], of one or of all micro-batches; change "
            "the port's type");
}

}  // namespace
}  // namespace partita
