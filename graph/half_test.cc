// The 16-bit floats: exact both ways, rounded once.
// SPDX-License-Identifier: Apache-2.0

#include "graph/half.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace partita {
namespace {

template <typename T>
void EveryNumberSurvives() {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    T number;
    number.bits = static_cast<uint16_t>(bits);
    const double wide = number;
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<double>(T(wide))));
    } else {
      ASSERT_EQ(T(wide).bits, number.bits) << wide;
    }
  }
}

TEST(Half, EveryNumberSurvives) { EveryNumberSurvives<Half>(); }
TEST(BFloat16, EveryNumberSurvives) { EveryNumberSurvives<BFloat16>(); }

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(Half(1 + 0x1p-11).bits, Half(1).bits);       // a tie, down
  EXPECT_EQ(double(Half(1 + 3 * 0x1p-11)), 1 + 0x1p-9);  // a tie, up
  EXPECT_EQ(double(Half(1 + 0x1p-11 + 0x1p-40)), 1 + 0x1p-10);
}

TEST(Half, OverflowsToInfinityAndUnderflowsGradually) {
  EXPECT_EQ(double(Half(65504)), 65504);
  EXPECT_TRUE(std::isinf(double(Half(65520))));
  EXPECT_EQ(double(Half(65519)), 65504);
  EXPECT_EQ(double(Half(0x1p-24)), 0x1p-24);
  EXPECT_EQ(double(Half(0x1p-26)), 0);
  EXPECT_TRUE(std::signbit(double(Half(-0.0))));
}

TEST(BFloat16, RoundsFromDoubleOnce) {
  // Rounding to float first would give a tie and then go down to 1.
  const double value = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(double(BFloat16(value)), 1 + 0x1p-7);
  EXPECT_EQ(double(BFloat16(std::numeric_limits<double>::max())), HUGE_VAL);
}

}  // namespace
}  // namespace partita
