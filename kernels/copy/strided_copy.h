// Copies between two arrays that are walked with strides: the engine of layout
// conversions and of all ops that only move bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_COPY_STRIDED_COPY_H_
#define PARTITA_KERNELS_COPY_STRIDED_COPY_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace partita {

// One dimension of the walk; strides are in elements and may be negative, and
// `from` may be 0 to repeat.
struct CopyDim {
  int64_t size;
  int64_t from;
  int64_t to;
};

// Copies element (i, j, ...) at from_offset + i*from_i + j*from_j + ... to
// to_offset + i*to_i + ... No two elements go to the same place.
//
// Dimensions that lie together on both sides are merged when the object is
// made; Run allocates nothing. Thread safety: const calls may run in parallel.
class StridedCopy {
 public:
  StridedCopy(int element_bytes, absl::Span<const CopyDim> dims,
              int64_t from_offset = 0, int64_t to_offset = 0);

  void Run(const void* from, void* to, int threads) const;

  int64_t bytes() const { return bytes_; }

 private:
  void RunTask(int64_t task, const char* from, char* to) const;

  // Strides and offsets below are in bytes.
  absl::InlinedVector<CopyDim, 6> outer_;
  CopyDim rows_ = {1, 0, 0};     // cut into tasks of row_tile_
  CopyDim columns_ = {1, 0, 0};  // the innermost loop
  int64_t unit_ = 0;             // bytes that are contiguous on both sides
  int64_t from_offset_;
  int64_t to_offset_;
  int64_t row_tile_ = 16;
  int64_t row_tiles_ = 1;
  int64_t tasks_ = 0;
  int64_t bytes_ = 0;
};

void ZeroBytes(void* to, int64_t bytes, int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_COPY_STRIDED_COPY_H_
