// Tiles of all sizes between inaccessible pages.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/copy/transpose_tile.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/testing/guarded_buffer.h"

namespace partita {
namespace {

constexpr int64_t kElement = 4;

std::vector<int64_t> Steps(int64_t count, int64_t step) {
  std::vector<int64_t> steps;
  for (int64_t i = 0; i < count; ++i) steps.push_back(i * step);
  return steps;
}

// From a column-major matrix to a row-major one.
void ExpectTransposed(int64_t rows, int64_t columns, GuardedBuffer::Side side) {
  GuardedBuffer from(rows * columns * kElement, side, std::byte{0});
  GuardedBuffer to(rows * columns * kElement, side, std::byte{0});
  for (int32_t i = 0; i < rows * columns; ++i) {
    std::memcpy(from.data() + i * kElement, &i, kElement);
  }
  from.MakeReadOnly();
  TransposeTile(reinterpret_cast<const char*>(from.data()),
                reinterpret_cast<char*>(to.data()),
                Steps(rows, columns * kElement),
                Steps(columns, rows * kElement));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      int32_t found;
      std::memcpy(&found, to.data() + (row * columns + column) * kElement,
                  kElement);
      ASSERT_EQ(found, column * rows + row)
          << rows << " rows, " << columns << " columns";
    }
  }
  EXPECT_TRUE(to.GapIntact()) << rows << " rows, " << columns << " columns";
}

TEST(TransposeTile, AllSizesAccessNothingElse) {
  for (int64_t rows = 1; rows < 40; ++rows) {
    for (int64_t columns = 1; columns < 40; ++columns) {
      ExpectTransposed(rows, columns, GuardedBuffer::Side::kAtStart);
      ExpectTransposed(rows, columns, GuardedBuffer::Side::kAtEnd);
    }
  }
}

}  // namespace
}  // namespace partita
