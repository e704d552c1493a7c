// Copies between two strided arrays: the engine of layout conversions and of
// all ops that only move bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_COPY_STRIDED_COPY_H_
#define PARTITA_KERNELS_COPY_STRIDED_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace partita {

// One dimension of the copy. Strides are in elements and may be negative;
// `from` may be 0, to repeat.
struct CopyDim {
  int64_t size;
  int64_t from;
  int64_t to;
};

// Copies element (i, j, ...) at from_offset + i*from_i + j*from_j + ... to
// to_offset + i*to_i + ... No two elements have the same target.
//
// The constructor merges dimensions that are contiguous on both sides. Run
// allocates nothing. Thread safety: const calls may run in parallel.
class StridedCopy {
 public:
  StridedCopy(int element_bytes, absl::Span<const CopyDim> dims,
              int64_t from_offset = 0, int64_t to_offset = 0);

  void Run(const void* from, void* to, int threads) const;

  int64_t bytes() const { return bytes_; }

 private:
  // `rest`: the dimensions that are neither rows nor columns.
  void MakeTransposed(absl::InlinedVector<CopyDim, 8>& rest);
  int64_t FirstRow(int64_t task) const { return task % row_tiles_ * row_tile_; }
  // Sets the pointers to the task's first element.
  void MoveTo(int64_t task, const char*& from, char*& to) const;
  void Prefetch(int64_t task, const char* from, char* to) const;
  void RunTask(int64_t task, const char* from, char* to) const;
  void CopyTile(const char* from, char* to, const CopyDim& rows,
                const CopyDim& columns) const;

  // Strides and offsets below are in bytes.
  absl::InlinedVector<CopyDim, 6> outer_;
  CopyDim rows_ = {1, 0, 0};     // split into tasks of row_tile_
  CopyDim columns_ = {1, 0, 0};  // the innermost loop
  int64_t unit_ = 0;             // bytes that are contiguous on both sides
  int64_t from_offset_;
  int64_t to_offset_;
  int64_t row_tile_ = 16;
  int64_t row_tiles_ = 1;
  int64_t column_tile_ = 64;
  // For 4-byte elements, if a tile's rows are adjacent in the source and its
  // columns in the target: offsets of the rows in the target and of the columns
  // in the source.
  std::vector<int64_t> row_places_;
  std::vector<int64_t> column_places_;
  // True for a side of several dimensions: the side is one tile, and its
  // offsets are not equidistant.
  bool scattered_rows_ = false;
  bool scattered_columns_ = false;
  int64_t tasks_ = 0;
  int64_t bytes_ = 0;
};

void ZeroBytes(void* to, int64_t bytes, int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_COPY_STRIDED_COPY_H_
