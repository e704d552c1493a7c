// Numbers keep their value and become elements of any type.
// SPDX-License-Identifier: Apache-2.0

#include "graph/number.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

constexpr int64_t kOdd = (int64_t{1} << 53) + 1;

TEST(NumberTest, EqualityDoesNotDependOnTheSource) {
  EXPECT_EQ(Number(7), Number(7.0));
  EXPECT_EQ(Number(7), Number(uint8_t{7}));
  EXPECT_EQ(Number(INT64_MIN), Number(-0x1p63));
  EXPECT_EQ(Number(uint64_t{1} << 63), Number(0x1p63));
  EXPECT_NE(Number(kOdd), Number(kOdd - 1));
  EXPECT_NE(Number(UINT64_MAX), Number(-1));
  EXPECT_NE(Number(0), Number(-0.0)) << "a float shows the sign";
  EXPECT_FALSE(Number(0.5).is_integer());
  EXPECT_FALSE(Number(0x1p64).is_integer());
  EXPECT_FALSE(Number(-HUGE_VAL).is_integer());
  EXPECT_FALSE(Number(double{NAN}).is_integer());
}

TEST(NumberTest, IntegersAreExactAndClampedToTheirType) {
  EXPECT_EQ(Number(kOdd).To<int64_t>(), kOdd);
  EXPECT_EQ(Number(INT64_MIN).To<int64_t>(), INT64_MIN);
  EXPECT_EQ(Number(UINT64_MAX).To<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Number(UINT64_MAX).To<int64_t>(), INT64_MAX);
  EXPECT_EQ(Number(-1).To<uint64_t>(), 0);
  EXPECT_EQ(Number(300).To<uint8_t>(), 255);
  EXPECT_EQ(Number(-129).To<int8_t>(), -128);
  EXPECT_EQ(Number(2).To<bool>(), true);
  EXPECT_EQ(Number(0).To<bool>(), false);
}

TEST(NumberTest, OtherValuesAreNarrowedLikeDoubles) {
  EXPECT_EQ(Number(2.9).To<int32_t>(), 2);
  EXPECT_EQ(Number(double{NAN}).To<int32_t>(), 0);
  EXPECT_EQ(Number(1e300).To<int64_t>(), INT64_MAX);
  EXPECT_EQ(Number(0.5).To<float>(), 0.5f);
  EXPECT_TRUE(std::signbit(Number(-0.0).To<float>()));
  EXPECT_EQ(Number(kOdd).ToDouble(), 0x1p53);
}

TEST(NumberTest, WrappedIsTheValueModuloTwoTo64) {
  EXPECT_EQ(Number(-1).ToWrapped(), UINT64_MAX);
  EXPECT_EQ(Number(UINT64_MAX).ToWrapped(), UINT64_MAX);
  EXPECT_EQ(Number(kOdd).ToWrapped(), uint64_t{kOdd});
}

}  // namespace
}  // namespace partita
