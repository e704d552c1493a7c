// Strided copies: merged dimensions, tiles of rows, typed inner loops.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/copy/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace partita {
namespace {

// Less than this is not worth waking another thread.
constexpr int64_t kBytesPerThread = 128 << 10;
// A contiguous copy is cut into rows of this size.
constexpr int64_t kRowBytes = 16 << 10;
constexpr int64_t kColumnTile = 64;

template <typename T>
void CopyTile(const char* from, char* to, CopyDim rows, CopyDim columns) {
  for (int64_t i = 0; i < rows.size; ++i) {
    const char* x = from + i * rows.from;
    char* y = to + i * rows.to;
    for (int64_t j = 0; j < columns.size; ++j) {
      T element;  // memcpy: neither side need be aligned
      std::memcpy(&element, x + j * columns.from, sizeof(T));
      std::memcpy(y + j * columns.to, &element, sizeof(T));
    }
  }
}

struct Block16 {
  uint64_t words[2];
};
struct Block64 {
  uint64_t words[8];
};

void CopyBlocks(const char* from, char* to, CopyDim rows, CopyDim columns,
                int64_t unit) {
  for (int64_t i = 0; i < rows.size; ++i) {
    for (int64_t j = 0; j < columns.size; ++j) {
      std::memcpy(to + i * rows.to + j * columns.to,
                  from + i * rows.from + j * columns.from,
                  static_cast<size_t>(unit));
    }
  }
}

using Four = uint32_t __attribute__((vector_size(16)));

// Rows i to i + 3 of four columns whose rows are neighbours in the source; in
// the target the columns are.
void Transpose4(const char* from, char* to, CopyDim rows, CopyDim columns) {
  Four column[4], pair[4], row[4];
  for (int j = 0; j < 4; ++j) {
    std::memcpy(&column[j], from + j * columns.from, sizeof(Four));
  }
  for (int j = 0; j < 2; ++j) {
    const Four &a = column[2 * j], &b = column[2 * j + 1];
    pair[j] = __builtin_shuffle(a, b, Four{0, 4, 1, 5});
    pair[j + 2] = __builtin_shuffle(a, b, Four{2, 6, 3, 7});
  }
  for (int i = 0; i < 4; i += 2) {
    row[i] = __builtin_shuffle(pair[i], pair[i + 1], Four{0, 1, 4, 5});
    row[i + 1] = __builtin_shuffle(pair[i], pair[i + 1], Four{2, 3, 6, 7});
  }
  for (int i = 0; i < 4; ++i) {
    std::memcpy(to + i * rows.to, &row[i], sizeof(Four));
  }
}

// A tile of 4-byte elements, neighbours along rows in the source and along
// columns in the target: four by four, and what is left one by one.
void TransposeTile(const char* from, char* to, CopyDim rows, CopyDim columns) {
  const int64_t whole = columns.size / 4 * 4;
  int64_t i = 0;
  for (; i + 4 <= rows.size; i += 4) {
    const char* x = from + i * rows.from;
    char* y = to + i * rows.to;
    for (int64_t j = 0; j < whole; j += 4) {
      Transpose4(x + j * columns.from, y + j * columns.to, rows, columns);
    }
  }
  CopyDim left = columns;
  left.size = columns.size - whole;
  CopyDim above = rows;
  above.size = i;
  CopyTile<uint32_t>(from + whole * columns.from, to + whole * columns.to,
                     above, left);
  rows.size -= i;
  CopyTile<uint32_t>(from + i * rows.from, to + i * rows.to, rows, columns);
}

void CopyUnits(const char* from, char* to, CopyDim rows, CopyDim columns,
               int64_t unit) {
  if (unit == 4 && rows.from == 4 && columns.to == 4) {
    return TransposeTile(from, to, rows, columns);
  }
  if (columns.size == 1) std::swap(rows, columns);
  switch (unit) {
    case 1:
      return CopyTile<uint8_t>(from, to, rows, columns);
    case 2:
      return CopyTile<uint16_t>(from, to, rows, columns);
    case 4:
      return CopyTile<uint32_t>(from, to, rows, columns);
    case 8:
      return CopyTile<uint64_t>(from, to, rows, columns);
    case 16:
      return CopyTile<Block16>(from, to, rows, columns);
    case 64:
      return CopyTile<Block64>(from, to, rows, columns);
    default:
      return CopyBlocks(from, to, rows, columns, unit);
  }
}

using Dims = absl::InlinedVector<CopyDim, 8>;

// Sorted by the stride of the target, and merged where both sides allow.
Dims Merged(absl::Span<const CopyDim> dims) {
  Dims sorted;
  for (const CopyDim& dim : dims) {
    if (dim.size != 1) sorted.push_back(dim);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const CopyDim& a, const CopyDim& b) {
                     return std::abs(a.to) > std::abs(b.to);
                   });
  Dims merged;
  for (const CopyDim& dim : sorted) {
    if (!merged.empty() && merged.back().from == dim.size * dim.from &&
        merged.back().to == dim.size * dim.to) {
      merged.back() = {merged.back().size * dim.size, dim.from, dim.to};
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

// Takes the dimension out that the source has innermost, or the last one.
CopyDim TakeRows(Dims& dims) {
  if (dims.empty()) return {1, 0, 0};
  size_t best = dims.size() - 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].from != 0 &&
        std::abs(dims[i].from) < std::abs(dims[best].from)) {
      best = i;
    }
  }
  const CopyDim rows = dims[best];
  dims.erase(dims.begin() + best);
  return rows;
}

}  // namespace

StridedCopy::StridedCopy(int element_bytes, absl::Span<const CopyDim> dims,
                         int64_t from_offset, int64_t to_offset)
    : unit_(element_bytes),
      from_offset_(from_offset * element_bytes),
      to_offset_(to_offset * element_bytes) {
  bytes_ = element_bytes;
  for (const CopyDim& dim : dims) bytes_ *= dim.size;
  if (bytes_ == 0) return;
  Dims merged = Merged(dims);
  for (CopyDim& dim : merged) {
    dim.from *= element_bytes;
    dim.to *= element_bytes;
  }
  if (!merged.empty() && merged.back().from == unit_ &&
      merged.back().to == unit_) {
    unit_ *= merged.back().size;
    merged.pop_back();
  }
  if (merged.empty() && unit_ >= 2 * kRowBytes && unit_ % kRowBytes == 0) {
    merged.push_back({unit_ / kRowBytes, kRowBytes, kRowBytes});
    unit_ = kRowBytes;
  }
  if (!merged.empty()) {
    columns_ = merged.back();
    merged.pop_back();
  }
  rows_ = TakeRows(merged);
  if (rows_.size == 1) std::swap(rows_, columns_);
  outer_.assign(merged.begin(), merged.end());
  row_tiles_ = (rows_.size + row_tile_ - 1) / row_tile_;
  tasks_ = row_tiles_;
  for (const CopyDim& dim : outer_) tasks_ *= dim.size;
}

void StridedCopy::RunTask(int64_t task, const char* from, char* to) const {
  const int64_t tile = task % row_tiles_;
  int64_t rest = task / row_tiles_;
  for (size_t i = outer_.size(); i-- > 0;) {
    const int64_t at = rest % outer_[i].size;
    rest /= outer_[i].size;
    from += at * outer_[i].from;
    to += at * outer_[i].to;
  }
  const int64_t first = tile * row_tile_;
  from += first * rows_.from;
  to += first * rows_.to;
  CopyDim rows = rows_;
  rows.size = std::min(row_tile_, rows_.size - first);
  for (int64_t j = 0; j < columns_.size; j += kColumnTile) {
    CopyDim columns = columns_;
    columns.size = std::min(kColumnTile, columns_.size - j);
    CopyUnits(from + j * columns_.from, to + j * columns_.to, rows, columns,
              unit_);
  }
}

void StridedCopy::Run(const void* from, void* to, int threads) const {
  const char* x = static_cast<const char*>(from) + from_offset_;
  char* y = static_cast<char*>(to) + to_offset_;
  const int64_t useful = std::min<int64_t>(bytes_ / kBytesPerThread, tasks_);
  if (threads <= 1 || useful <= 1) {
    for (int64_t task = 0; task < tasks_; ++task) RunTask(task, x, y);
    return;
  }
  const int team = static_cast<int>(std::min<int64_t>(threads, useful));
#pragma omp parallel for num_threads(team) schedule(static)
  for (int64_t task = 0; task < tasks_; ++task) RunTask(task, x, y);
}

void ZeroBytes(void* to, int64_t bytes, int threads) {
  const int team = static_cast<int>(
      std::clamp<int64_t>(bytes / kBytesPerThread, 1, std::max(1, threads)));
  const int64_t part = (bytes + team - 1) / team;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
  for (int i = 0; i < team; ++i) {
    const int64_t size = std::min(part, bytes - i * part);
    if (size <= 0) continue;
    std::memset(static_cast<char*>(to) + i * part, 0,
                static_cast<size_t>(size));
  }
}

}  // namespace partita
