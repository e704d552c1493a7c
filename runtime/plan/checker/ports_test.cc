// Tests the messages for inputs and outputs with other types than the graph's
// values. Callers see the type of the port.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/checker/testing/plan_description.h"

namespace partita {
namespace {

// One micro-batch; if there are two, each has two rows of four.
constexpr ShortPlan kNeg = {
    .name = "one neg",
    .graph = R"(graph @f(%x: f32[2, 4] on gpu:0) -> f32[2, 4] {
  %y = neg %x : f32[2, 4] on gpu:0
  return %y
})",
    .devices = "gpu:0 0 64",
    .declared = R"(
      input x f32[2, 4]
      output y f32[2, 4]
      arena gpu:0
        !x 0 32
        !y 32 32)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %y (!x) -> !y
      gpu:0/s fetch !y output 0)",
};

constexpr absl::string_view kOneBatch = "2 fetch !y output 0\n";
constexpr absl::string_view kTwoBatches =
    "2 fetch !y output 0\n"
    "      3 feed batch 1 -> !x input 0\n"
    "      4 kernel %y batch 1 (!x) -> !y\n"
    "      5 fetch batch 1 !y output 0\n";

using ::partita::CheckerVerdict;  // besides the overload below
std::string CheckerVerdict(const TextChanges& changes) {
  return CheckerVerdict(changes, TextOf(kNeg));
}

TEST(Ports, HaveTheTypesOfTheirValues) {
  EXPECT_EQ(CheckerVerdict({}), "proved");
  EXPECT_EQ(CheckerVerdict({{"input x f32[2, 4]", "input x i32[2, 4]"}}),
            "plan @f: input 0 x: found i32[2, 4]; expected f32[2, 4]; change "
            "the port's type");
}

// Other dims with the same number of bytes are another shape to the caller.
TEST(Ports, HaveTheDimsOfTheirValues) {
  for (const char* dims : {"1, 2, 4", "2, 4, 1", "8", "4, 2"}) {
    EXPECT_EQ(CheckerVerdict({{"output y f32[2, 4]",
                               std::string("output y f32[") + dims + "]"}}),
              std::string("plan @f: output 0 y: found f32[") + dims +
                  "]; expected f32[2, 4]; change the port's type");
  }
}

TEST(Ports, OfMicroBatchesHaveRoomForAll) {
  const TextChanges two = {{"input x f32[2, 4]", "input x f32[4, 4]"},
                           {"output y f32[2, 4]", "output y f32[4, 4]"},
                           {kOneBatch, kTwoBatches}};
  EXPECT_EQ(CheckerVerdict(two), "proved");
  const TextChanges wider = {{"input x f32[2, 4]", "input x f32[2, 8]"},
                             {"output y f32[2, 4]", "output y f32[4, 4]"},
                             {kOneBatch, kTwoBatches}};
  EXPECT_EQ(CheckerVerdict(wider),
            "plan @f: input 0 x: found f32[2, 8]; expected f32[2, 4] or "
            "f32[4, 4] or f32[2, 2, 4], of one or of all micro-batches; change "
            "the port's type");
}

// Extents must match even if there are no bytes.
TEST(Ports, OfMicroBatchesWithoutBytesHaveRoomForAll) {
  const auto verdict = [](absl::string_view one, absl::string_view all) {
    const std::string type = absl::StrCat("f32[", one, "]");
    const std::string port = absl::StrCat("f32[", all, "]");
    return CheckerVerdict(
        {}, absl::StrReplaceAll(TextOf(kNeg), {{"x f32[2, 4]", "x " + port},
                                               {"y f32[2, 4]", "y " + port},
                                               {"f32[2, 4]", type},
                                               {"!x 0 32", "!x 0 0"},
                                               {"!y 32 32", "!y 0 0"},
                                               {kOneBatch, kTwoBatches}}));
  };
  EXPECT_EQ(verdict("2, 0", "4, 0"), "proved");
  EXPECT_EQ(verdict("2, 0", "2, 2, 0"), "proved");
  EXPECT_EQ(verdict("0, 3", "0, 3"), "proved");
  EXPECT_EQ(verdict("0", "0"), "proved");
  constexpr absl::string_view kExpected =
      ": found f32[2, 1]; expected f32[2, 0] or f32[4, 0] or f32[2, 2, 0], of "
      "one or of all micro-batches; change the port's type";
  EXPECT_EQ(verdict("2, 0", "2, 1"),
            absl::StrCat("plan @f: input 0 x", kExpected,
                         "\nplan @f: output 0 y", kExpected));
}

}  // namespace
}  // namespace partita
