// Tests of the text and the payload of refusals for memory.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/refusal.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(RefusalTest, ARefusalNamesTheLargestTensors) {
  const absl::Status refused = RefusalError(
      {.where = "placement @sample",
       .device = "cpu:0",
       .at = "work %n0",
       .needed = 1152,
       .limit = 800,
       .largest = {{"%w0", 256, "constant"}, {"%x", 64, "input"}}});
  EXPECT_EQ(
      refused.message(),
      "placement @sample: found 1.1 KiB needed on cpu:0 at work %n0, "
      "352 B too much; expected at most 800 B; largest: %w0 256 B (constant), "
      "%x 64 B (input)");
  const std::optional<MemoryShortage> shortage = ShortageOf(refused);
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->missing(), 352);
  EXPECT_EQ(shortage->strategy, "");
  EXPECT_EQ(MemoryRemedy(*shortage),
            "a machine with at least 1152 B free on cpu:0");
}

TEST(RefusalTest, TheMissingBytesReadOtherThanTheNeededOnes) {
  const auto text = [](int64_t limit) {
    return RefusalText({.where = "placement @sample",
                        .device = "gpu:0",
                        .needed = int64_t{40} << 30,
                        .limit = limit});
  };
  EXPECT_EQ(text(512 << 10),
            "placement @sample: found 40.0 GiB needed on gpu:0, 40959.5 MiB "
            "too much; expected at most 512.0 KiB");
  EXPECT_EQ(text(int64_t{8} << 30),
            "placement @sample: found 40.0 GiB needed on gpu:0, 32.0 GiB too "
            "much; expected at most 8.0 GiB");
}

TEST(RefusalTest, ARemedyNamesItsStrategy) {
  absl::Status of_data = absl::ResourceExhaustedError("");
  EXPECT_FALSE(ShortageOf(of_data).has_value());
  SetShortage({.device = "cpu:0", .needed = 8, .limit = 7, .strategy = "data"},
              of_data);
  EXPECT_EQ(MemoryRemedy(*ShortageOf(of_data)),
            "a machine with at least 8 B free on cpu:0 for strategy data");
}

}  // namespace
}  // namespace partita
