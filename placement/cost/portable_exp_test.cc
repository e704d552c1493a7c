// Tests of the logarithm and the exponential.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/portable_exp.h"

#include <cmath>

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(PortableExpTest, TheyAreThoseOfTheLibraryWithinTheirErrors) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    EXPECT_NEAR(PortableLog(x), std::log(x), 1e-13 * std::fabs(std::log(x)))
        << x;
  }
  for (double x = -699; x < 700; x += 0.37) {
    EXPECT_NEAR(PortableExp(x) / std::exp(x), 1, 1e-13) << x;
  }
  EXPECT_EQ(PortableLog(1), 0);
  EXPECT_EQ(PortableExp(0), 1);
}

// The library's results for these differ in the last bits, or do without fused
// multiply-add.
TEST(PortableExpTest, TheBitsAreTheSameOnEveryHost) {
  EXPECT_EQ(PortableLog(3e-5), -0x1.4d420db4d09f9p+3);
  EXPECT_EQ(PortableLog(3), 0x1.193ea7aad030ap+0);
  EXPECT_EQ(PortableExp(1.5), 0x1.1ed3fe64fc542p+2);
  EXPECT_EQ(PortableExp(-20.25), 0x1.b93de1e27ca41p-30);
}

}  // namespace
}  // namespace partita
