// Compares RootBytes with lists of all bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/root_bytes.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

std::vector<int64_t> Listed(RootBytes bytes, int64_t size) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < size; ++i) {
    list.push_back(bytes.first());
    bytes.Shift(1);
  }
  return list;
}

RootBytes Random(std::mt19937& bits) {
  const int64_t block = 1 + bits() % 4;
  RootBytes bytes =
      RootBytes::Blocks(bits() % 8, block, 1 + bits() % 3, block + bits() % 3);
  bytes.Shift(bits() % 7);
  return bytes;
}

TEST(RootBytes, AColumnIsOneBlockARow) {
  const RootBytes column = RootBytes::Blocks(8, 2, 3, 10);
  EXPECT_EQ(Listed(column, 6), (std::vector<int64_t>{8, 9, 18, 19, 28, 29}));
}

TEST(RootBytes, AdjacentBlocksAreBytesInARow) {
  EXPECT_EQ(RootBytes::Blocks(8, 4, 100, 4), (RootBytes{.byte = 8}));
  EXPECT_EQ(RootBytes::Blocks(8, 4, 1, 12), (RootBytes{.byte = 8}));
}

TEST(RootBytes, ShiftingIsPassingOverBytesOneByOne) {
  std::mt19937 bits(1);
  for (int i = 0; i < 2000; ++i) {
    const RootBytes bytes = Random(bits);
    const int64_t passed = bits() % 12;
    RootBytes shifted = bytes;
    shifted.Shift(passed);
    const std::vector<int64_t> all = Listed(bytes, passed + 8);
    EXPECT_EQ(Listed(shifted, 8),
              std::vector<int64_t>(all.begin() + passed, all.end()));
  }
}

TEST(RootBytes, AgreeAsFarAsTheirListsDo) {
  std::mt19937 bits(2);
  for (int i = 0; i < 20000; ++i) {
    const RootBytes a = Random(bits);
    const RootBytes b = Random(bits);
    const int64_t size = 1 + bits() % 12;
    const std::vector<int64_t> x = Listed(a, size);
    const std::vector<int64_t> y = Listed(b, size);
    int64_t same = 0;
    while (same < size && x[same] == y[same]) ++same;
    EXPECT_EQ(Agreement(a, b, size), same);
  }
}

TEST(RootBytes, AnExtensionListsBothParts) {
  std::mt19937 bits(3);
  int extended = 0;
  for (int i = 0; i < 20000; ++i) {
    RootBytes a = Random(bits);
    const RootBytes b = Random(bits);
    const int64_t size = 1 + bits() % 6;
    const int64_t next_size = 1 + bits() % 6;
    std::vector<int64_t> expected = Listed(a, size);
    const std::vector<int64_t> rest = Listed(b, next_size);
    expected.insert(expected.end(), rest.begin(), rest.end());
    if (!Extend(a, size, b, next_size)) continue;
    ++extended;
    ASSERT_EQ(Listed(a, size + next_size), expected);
  }
  EXPECT_GT(extended, 1000);
}

TEST(RootBytes, AMillionRowsPutTogetherAreOneRun) {
  RootBytes extended{.byte = 0};
  int64_t size = 0;
  for (int64_t row = 0; row < 1000000; ++row) {
    for (int64_t half : {0, 8}) {
      ASSERT_TRUE(size == 0 ||
                  Extend(extended, size, {.byte = row * 16 + half}, 8));
      size += 8;
    }
  }
  EXPECT_EQ(extended, (RootBytes{.byte = 0}));
}

}  // namespace
}  // namespace partita
