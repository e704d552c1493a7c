// Compares interval maps with an array of bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/interval_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace partita {
namespace {

// A value that differs from byte to byte, so that wrong splits show.
struct Counting {
  void Shift(int64_t bytes) { at += bytes; }
  int64_t at = 0;
};

std::vector<int64_t> Bytes(const IntervalMap<Counting>& map, int64_t size) {
  std::vector<int64_t> bytes;
  map.ForEach(0, size, [&](int64_t begin, int64_t end, const Counting* value) {
    EXPECT_EQ(static_cast<int64_t>(bytes.size()), begin);
    for (int64_t b = begin; b < end; ++b) {
      bytes.push_back(value == nullptr ? -1 : value->at + b - begin);
    }
    return true;
  });
  return bytes;
}

TEST(IntervalMap, SplitsShiftTheSecondPart) {
  IntervalMap<Counting> map;
  map.Set(2, 8, {100});
  map.Set(4, 5, {7});
  EXPECT_EQ(Bytes(map, 10),
            (std::vector<int64_t>{-1, -1, 100, 101, 7, 103, 104, 105, -1, -1}));
  map.Erase(0, 3);
  EXPECT_EQ(Bytes(map, 5), (std::vector<int64_t>{-1, -1, -1, 101, 7}));
}

TEST(IntervalMap, UpdateFillsGaps) {
  IntervalMap<Counting> map;
  map.Set(2, 4, {50});
  int shards = 0;
  map.Update(1, 6, {}, [&](int64_t begin, int64_t end, Counting& value) {
    ++shards;
    value.at = 10 * begin + end;
  });
  EXPECT_EQ(shards, 3);
  EXPECT_EQ(Bytes(map, 7), (std::vector<int64_t>{-1, 12, 24, 25, 46, 47, -1}));
}

TEST(IntervalMap, AgreesWithAnArrayOnRandomCalls) {
  std::mt19937 random(1);
  IntervalMap<Counting> map;
  std::vector<int64_t> bytes(40, -1);
  for (int i = 0; i < 3000; ++i) {
    const int64_t a = random() % 41;
    const int64_t b = random() % 41;
    const int64_t begin = std::min(a, b);
    const int64_t end = std::max(a, b);
    const int64_t value = 1000 * (i + 1);
    switch (random() % 3) {
      case 0:
        map.Set(begin, end, {value});
        for (int64_t k = begin; k < end; ++k) bytes[k] = value + k - begin;
        break;
      case 1:
        map.Erase(begin, end);
        for (int64_t k = begin; k < end; ++k) bytes[k] = -1;
        break;
      default:
        map.Update(begin, end, {0}, [&](int64_t from, int64_t to, Counting& c) {
          c.at = value + from;
          for (int64_t k = from; k < to; ++k) bytes[k] = value + k;
        });
    }
    ASSERT_EQ(Bytes(map, 40), bytes) << "call " << i;
  }
}

}  // namespace
}  // namespace partita
