// Tests of sizes in bytes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/byte_size.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(ByteSizeTest, UnitsOf1024AndOf1000AreRead) {
  EXPECT_EQ(ParseByteSize("8 GiB"), int64_t{8} << 30);
  EXPECT_EQ(ParseByteSize("1.5GiB"), int64_t{3} << 29);
  EXPECT_EQ(ParseByteSize("80 GB"), 80'000'000'000);
  EXPECT_EQ(ParseByteSize("4096"), 4096);
  EXPECT_EQ(ParseByteSize("4096 B"), 4096);
  EXPECT_EQ(ParseByteSize("0"), 0);
}

TEST(ByteSizeTest, OtherTextIsRefused) {
  for (const char* text : {"", "GiB", "-1", "8 gib", "1.5", "1.2.3 GiB",
                           "8 GiB x", "1e9", "2000 TiB", "nan", "inf B"}) {
    EXPECT_FALSE(ParseByteSize(text).has_value()) << text;
  }
}

TEST(ByteSizeTest, ExactTextReadsBackEqual) {
  for (int64_t bytes :
       {int64_t{0}, int64_t{1}, int64_t{1023}, int64_t{1024},
        int64_t{1536} << 20, (int64_t{8} << 30) + 1, kMaxByteSize}) {
    EXPECT_EQ(ParseByteSize(ExactByteSize(bytes)), bytes);
  }
  EXPECT_EQ(ExactByteSize(int64_t{1536} << 20), "1536 MiB");
}

TEST(ByteSizeTest, RoundedTextHasOneDigit) {
  EXPECT_EQ(RoundedByteSize(512), "512 B");
  EXPECT_EQ(RoundedByteSize(1536), "1.5 KiB");
  EXPECT_EQ(RoundedByteSize(int64_t{10093173145}), "9.4 GiB");
}

TEST(ByteSizeTest, RoundedTextDiffersFromThatOfASizeBesideIt) {
  const int64_t large = int64_t{40} << 30;
  EXPECT_EQ(RoundedByteSize(large - (int64_t{1} << 30), large), "39.0 GiB");
  EXPECT_EQ(RoundedByteSize(large - (64 << 10), large), "40959.9 MiB");
  EXPECT_EQ(RoundedByteSize((4 << 20) - 1, 4 << 20), "4194303 B");
  EXPECT_EQ(RoundedByteSize(1536, 4 << 20), "1.5 KiB");
  EXPECT_EQ(RoundedByteSize(1536, 1536), "1.5 KiB");
}

}  // namespace
}  // namespace partita
