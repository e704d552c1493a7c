// Compares with the conversions of single elements.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/upcast/half_arrays.h"

#include <bit>
#include <cmath>
#include <vector>

#include "graph/half.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

// Every value of the format, upcast by three threads and by one element at a
// time.
template <typename T>
void ExpectUpcast(DType dtype) {
  std::vector<T> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].bits = static_cast<uint16_t>(i);
  }
  std::vector<float> wide(all.size(), -7);
  Upcast(dtype, all.data(), wide.data(), static_cast<int64_t>(all.size()), 3);
  for (size_t i = 0; i < all.size(); ++i) {
    const double want = all[i];
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(wide[i])) << i;
    } else {
      ASSERT_EQ(wide[i], want) << i;
      ASSERT_EQ(std::signbit(wide[i]), std::signbit(want)) << i;
    }
  }
}

// Floats of all magnitudes; and each midpoint between two values of the format,
// where it is rounded to even, with its neighbours.
std::vector<float> HardToRound() {
  std::vector<float> hard;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 40503) {
    hard.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (uint64_t upper = 0; upper < (1 << 20); ++upper) {
    const uint32_t bound = static_cast<uint32_t>(upper << 12);
    for (const uint32_t bits : {bound - 1, bound, bound + 1}) {
      hard.push_back(std::bit_cast<float>(bits));
    }
  }
  return hard;
}

template <typename T>
void ExpectNarrowed(DType dtype) {
  const std::vector<float> hard = HardToRound();
  std::vector<T> narrow(hard.size());
  Narrow(dtype, hard.data(), narrow.data(), static_cast<int64_t>(hard.size()),
         2);
  for (size_t i = 0; i < hard.size(); ++i) {
    if (std::isnan(hard[i])) {
      ASSERT_TRUE(std::isnan(double{narrow[i]})) << i;
    } else {
      ASSERT_EQ(narrow[i].bits, T(hard[i]).bits) << hard[i];
    }
  }
}

TEST(HalfArrays, EveryBf16IsUpcastExactly) {
  ExpectUpcast<BFloat16>(DType::kBF16);
}

TEST(HalfArrays, EveryF16IsUpcastExactly) { ExpectUpcast<Half>(DType::kF16); }

TEST(HalfArrays, NarrowedToBf16AsOneElementIs) {
  ExpectNarrowed<BFloat16>(DType::kBF16);
}

TEST(HalfArrays, NarrowedToF16AsOneElementIs) {
  ExpectNarrowed<Half>(DType::kF16);
}

TEST(HalfArrays, NothingIsWrittenAfterTheLastElement) {
  for (int64_t count = 0; count < 20; ++count) {
    const std::vector<Half> half(20, Half(2.5));
    std::vector<float> wide(20, 1);
    Upcast(DType::kF16, half.data(), wide.data(), count, 4);
    std::vector<Half> back(20, Half(1));
    Narrow(DType::kF16, wide.data(), back.data(), count, 4);
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(wide[i], i < count ? 2.5f : 1) << count << " " << i;
      EXPECT_EQ(double{back[i]}, i < count ? 2.5 : 1) << count << " " << i;
    }
  }
}

}  // namespace
}  // namespace partita
