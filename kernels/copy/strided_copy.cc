// Strided copies: merged dimensions, tiles of rows, typed inner loops.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/copy/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/copy/transpose_tile.h"
#include "kernels/thread_pool/parallel_for.h"

namespace partita {
namespace {

// Less work than this is not worth waking another thread.
constexpr int64_t kBytesPerThread = 128 << 10;
// A contiguous copy is split into rows of this size.
constexpr int64_t kRowBytes = 16 << 10;
// The limit of a tile side that is made of several dimensions.
constexpr size_t kLongestSide = 256;

template <typename T>
void CopyRows(const char* from, char* to, CopyDim rows, CopyDim columns) {
  for (int64_t i = 0; i < rows.size; ++i) {
    const char* x = from + i * rows.from;
    char* y = to + i * rows.to;
    for (int64_t j = 0; j < columns.size; ++j) {
      T element;  // memcpy: neither side needs alignment
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

void CopyUnits(const char* from, char* to, CopyDim rows, CopyDim columns,
               int64_t unit) {
  if (columns.size == 1) std::swap(rows, columns);
  switch (unit) {
    case 1:
      return CopyRows<uint8_t>(from, to, rows, columns);
    case 2:
      return CopyRows<uint16_t>(from, to, rows, columns);
    case 4:
      return CopyRows<uint32_t>(from, to, rows, columns);
    case 8:
      return CopyRows<uint64_t>(from, to, rows, columns);
    case 16:
      return CopyRows<Block16>(from, to, rows, columns);
    case 64:
      return CopyRows<Block64>(from, to, rows, columns);
    default:
      return CopyBlocks(from, to, rows, columns, unit);
  }
}

using Dims = absl::InlinedVector<CopyDim, 8>;

// Sorted by the target's stride, and merged if both sides allow it.
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

// Removes and returns the source's innermost dimension, or the last one.
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

// The offsets, on the other side of the copy, of a tile side's elements.
std::vector<int64_t> PlacesOf(int64_t size, int64_t stride) {
  std::vector<int64_t> places;
  const int64_t count = std::min<int64_t>(size, kLongestSide);
  for (int64_t i = 0; i < count; ++i) places.push_back(i * stride);
  return places;
}

// Appends a dimension of `rest`, or part of it, to a tile side that it
// continues, by its strides `near`. False if there is none.
bool Extend(int64_t CopyDim::*near, int64_t CopyDim::*far, int64_t unit,
            std::vector<int64_t>& places, Dims& rest) {
  const size_t size = places.size();
  for (size_t d = 0; d < rest.size(); ++d) {
    const CopyDim& dim = rest[d];
    if (dim.*near != static_cast<int64_t>(size) * unit ||
        size * static_cast<size_t>(dim.size) > kLongestSide) {
      continue;
    }
    for (int64_t step = 1; step < dim.size; ++step) {
      for (size_t i = 0; i < size; ++i) {
        places.push_back(places[i] + step * dim.*far);
      }
    }
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(d));
    return true;
  }
  return false;
}

}  // namespace

// The shorter side comes first, because sides with few elements, or a number
// that four does not divide, are copied element by element: weights of 3x3 have
// nine neighbours.
void StridedCopy::MakeTransposed(Dims& rest) {
  row_places_ = PlacesOf(rows_.size, rows_.to);
  column_places_ = PlacesOf(columns_.size, columns_.from);
  const auto extend_rows = [&] {
    return Extend(&CopyDim::from, &CopyDim::to, unit_, row_places_, rest);
  };
  const auto extend_columns = [&] {
    return Extend(&CopyDim::to, &CopyDim::from, unit_, column_places_, rest);
  };
  bool extended = true;
  while (extended) {
    extended = row_places_.size() <= column_places_.size()
                   ? extend_rows() || extend_columns()
                   : extend_columns() || extend_rows();
  }
  const int64_t rows = static_cast<int64_t>(row_places_.size());
  const int64_t columns = static_cast<int64_t>(column_places_.size());
  scattered_rows_ = rows > rows_.size;
  scattered_columns_ = columns > columns_.size;
  if (scattered_rows_) rows_.size = row_tile_ = rows;
  if (scattered_columns_) columns_.size = column_tile_ = columns;
}

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
  if (unit_ == 4 && rows_.from == 4 && columns_.to == 4) MakeTransposed(merged);
  outer_.assign(merged.begin(), merged.end());
  row_tiles_ = (rows_.size + row_tile_ - 1) / row_tile_;
  tasks_ = row_tiles_;
  for (const CopyDim& dim : outer_) tasks_ *= dim.size;
}

void StridedCopy::CopyTile(const char* from, char* to, const CopyDim& rows,
                           const CopyDim& columns) const {
  if (row_places_.empty()) return CopyUnits(from, to, rows, columns, unit_);
  TransposeTile(from, to, absl::MakeConstSpan(row_places_.data(), rows.size),
                absl::MakeConstSpan(column_places_.data(), columns.size));
}

// For lines that the hardware does not prefetch, since each is on a page of its
// own.
void StridedCopy::Prefetch(int64_t task, const char* from, char* to) const {
  MoveTo(task, from, to);
  if (scattered_rows_) {
    for (int64_t place : row_places_) __builtin_prefetch(to + place, 1);
  }
  if (scattered_columns_) {
    for (int64_t place : column_places_) __builtin_prefetch(from + place, 0);
  }
}

void StridedCopy::MoveTo(int64_t task, const char*& from, char*& to) const {
  int64_t rest = task / row_tiles_;
  for (size_t i = outer_.size(); i-- > 0;) {
    const int64_t at = rest % outer_[i].size;
    rest /= outer_[i].size;
    from += at * outer_[i].from;
    to += at * outer_[i].to;
  }
  from += FirstRow(task) * rows_.from;
  to += FirstRow(task) * rows_.to;
}

void StridedCopy::RunTask(int64_t task, const char* from, char* to) const {
  if ((scattered_rows_ || scattered_columns_) && task + 1 < tasks_) {
    Prefetch(task + 1, from, to);
  }
  MoveTo(task, from, to);
  const int64_t first = FirstRow(task);
  CopyDim rows = rows_;
  rows.size = std::min(row_tile_, rows_.size - first);
  for (int64_t j = 0; j < columns_.size; j += column_tile_) {
    CopyDim columns = columns_;
    columns.size = std::min(column_tile_, columns_.size - j);
    CopyTile(from + j * columns_.from, to + j * columns_.to, rows, columns);
  }
}

void StridedCopy::Run(const void* from, void* to, int threads) const {
  const char* x = static_cast<const char*>(from) + from_offset_;
  char* y = static_cast<char*>(to) + to_offset_;
  const int64_t useful = std::min<int64_t>(bytes_ / kBytesPerThread, tasks_);
  const int used = static_cast<int>(std::min<int64_t>(threads, useful));
  ParallelFor(used, tasks_, [&](int64_t task) { RunTask(task, x, y); });
}

void ZeroBytes(void* to, int64_t bytes, int threads) {
  const int used = static_cast<int>(
      std::clamp<int64_t>(bytes / kBytesPerThread, 1, std::max(1, threads)));
  ParallelForRanges(used, bytes, [to](int, int64_t begin, int64_t end) {
    if (begin == end) return;
    std::memset(static_cast<char*>(to) + begin, 0,
                static_cast<size_t>(end - begin));
  });
}

}  // namespace partita
