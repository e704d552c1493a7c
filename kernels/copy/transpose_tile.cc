// Sixteen by sixteen if a register holds sixteen elements, and four by four.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/copy/transpose_tile.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/vector/float_vector.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

using Four = uint32_t __attribute__((vector_size(16)));
constexpr size_t kSide = 4;

void Transpose4(const char* from, char* to, const int64_t* rows,
                const int64_t* columns) {
  Four column[kSide], pair[kSide], row[kSide];
  for (size_t j = 0; j < kSide; ++j) {
    std::memcpy(&column[j], from + columns[j], sizeof(Four));
  }
  for (size_t j = 0; j < 2; ++j) {
    const Four &a = column[2 * j], &b = column[2 * j + 1];
    pair[j] = __builtin_shuffle(a, b, Four{0, 4, 1, 5});
    pair[j + 2] = __builtin_shuffle(a, b, Four{2, 6, 3, 7});
  }
  for (size_t i = 0; i < kSide; i += 2) {
    row[i] = __builtin_shuffle(pair[i], pair[i + 1], Four{0, 1, 4, 5});
    row[i + 1] = __builtin_shuffle(pair[i], pair[i + 1], Four{2, 3, 6, 7});
  }
  for (size_t i = 0; i < kSide; ++i) {
    std::memcpy(to + rows[i], &row[i], sizeof(Four));
  }
}

void CopyOneByOne(const char* from, char* to, absl::Span<const int64_t> rows,
                  absl::Span<const int64_t> columns) {
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < columns.size(); ++j) {
      std::memcpy(to + rows[i] + 4 * j, from + 4 * i + columns[j], 4);
    }
  }
}

// By four, and the rest one by one.
void TransposeByFour(const char* from, char* to, absl::Span<const int64_t> rows,
                     absl::Span<const int64_t> columns) {
  const size_t whole_rows = rows.size() / kSide * kSide;
  const size_t whole_columns = columns.size() / kSide * kSide;
  for (size_t i = 0; i < whole_rows; i += kSide) {
    for (size_t j = 0; j < whole_columns; j += kSide) {
      Transpose4(from + 4 * i, to + 4 * j, &rows[i], &columns[j]);
    }
  }
  CopyOneByOne(from, to + 4 * whole_columns, rows.subspan(0, whole_rows),
               columns.subspan(whole_columns));
  CopyOneByOne(from + 4 * whole_rows, to, rows.subspan(whole_rows), columns);
}

constexpr size_t kWideSide = kVector;
// For a shorter side, squares of four and single elements are faster.
constexpr size_t kLeastWide = kSide + 1;

// Vectors along both sides: lines are read and written whole. Elements are
// moved as floats, which keeps their bits.
struct TransposeWide {
  [[gnu::always_inline]] static inline void Whole(const char* from, char* to,
                                                  const int64_t* rows,
                                                  const int64_t* columns) {
    Vector lanes[kWideSide];
#pragma GCC unroll 16
    for (size_t k = 0; k < kWideSide; ++k) {
      std::memcpy(&lanes[k], from + columns[k], sizeof(Vector));
    }
    TransposeLanes(lanes);
#pragma GCC unroll 16
    for (size_t k = 0; k < kWideSide; ++k) {
      std::memcpy(to + rows[k], &lanes[k], sizeof(Vector));
    }
  }

  // A square with missing rows or columns, which are neither read nor written.
  [[gnu::always_inline]] static inline void Part(const char* from, char* to,
                                                 const int64_t* rows,
                                                 size_t num_rows,
                                                 const int64_t* columns,
                                                 size_t num_columns) {
    const LaneMask in_rows = FirstLanes(num_rows);
    Vector lanes[kWideSide];
    const bool is_wide = num_columns == kWideSide;
#pragma GCC unroll 16
    for (size_t k = 0; k < kWideSide; ++k) {
      const bool there = is_wide || k < num_columns;
      LoadMasked(from + (there ? columns[k] : 0), there ? in_rows : 0,
                 lanes[k]);
    }
    TransposeLanes(lanes);
    const LaneMask in_columns = FirstLanes(num_columns);
#pragma GCC unroll 16
    for (size_t k = 0; k < kWideSide; ++k) {
      if (k < num_rows) StoreMasked(lanes[k], in_columns, to + rows[k]);
    }
  }

  [[gnu::always_inline]] static inline void Run(const char* from, char* to,
                                                const int64_t* rows,
                                                size_t num_rows,
                                                const int64_t* columns,
                                                size_t num_columns) {
    for (size_t i = 0; i < num_rows; i += kWideSide) {
      const size_t height = std::min(kWideSide, num_rows - i);
      for (size_t j = 0; j < num_columns; j += kWideSide) {
        const size_t width = std::min(kWideSide, num_columns - j);
        if (height == kWideSide && width == kWideSide) {
          Whole(from + 4 * i, to + 4 * j, rows + i, columns + j);
        } else {
          Part(from + 4 * i, to + 4 * j, rows + i, height, columns + j, width);
        }
      }
    }
  }
};

// How many of `size` rows or columns the wide squares cover.
size_t WideOf(size_t size) {
  const size_t rest = size % kWideSide;
  return rest < kLeastWide ? size - rest : size;
}

}  // namespace

void TransposeTile(const char* from, char* to, absl::Span<const int64_t> rows,
                   absl::Span<const int64_t> columns) {
  size_t wide_rows = 0;
  size_t wide_columns = 0;
  if (HasAvx512()) {
    wide_rows = WideOf(rows.size());
    wide_columns = WideOf(columns.size());
    RunAvx512<TransposeWide>(from, to, rows.data(), wide_rows, columns.data(),
                             wide_columns);
  }
  TransposeByFour(from, to + 4 * wide_columns, rows.subspan(0, wide_rows),
                  columns.subspan(wide_columns));
  TransposeByFour(from + 4 * wide_rows, to, rows.subspan(wide_rows), columns);
}

}  // namespace partita
