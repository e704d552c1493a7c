// Loops over strided positions, for all evals.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_STRIDED_H_
#define PARTITA_GRAPH_OPS_STRIDED_H_

#include <array>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "graph/tensor_type.h"

namespace partita {

// Advances `index` to the next row-major position of `dims`, and `at`, which
// has one offset for each list of strides. False after the last position.
template <size_t N>
bool NextPosition(absl::Span<const int64_t> dims,
                  const std::array<Shape, N>& strides, Shape& index,
                  std::array<int64_t, N>& at) {
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (++index[axis] < dims[axis]) {
      for (size_t n = 0; n < N; ++n) at[n] += strides[n][axis];
      return true;
    }
    for (size_t n = 0; n < N; ++n) {
      at[n] -= strides[n][axis] * (dims[axis] - 1);
    }
    index[axis] = 0;
  }
  return false;
}

// Calls visit(offsets) for every position of `dims` in row-major order, with
// one offset for each list of strides.
template <size_t N, typename Visit>
void ForEachOffset(absl::Span<const int64_t> dims,
                   const std::array<Shape, N>& strides, Visit&& visit) {
  for (int64_t dim : dims) {
    if (dim == 0) return;
  }
  std::array<int64_t, N> at = {};
  if (dims.empty()) {
    visit(std::as_const(at));
    return;
  }
  const size_t last = dims.size() - 1;
  const absl::Span<const int64_t> outer = dims.subspan(0, last);
  Shape index(last, 0);
  do {
    std::array<int64_t, N> inner = at;
    for (int64_t i = 0; i < dims[last]; ++i) {
      visit(std::as_const(inner));
      for (size_t n = 0; n < N; ++n) inner[n] += strides[n][last];
    }
  } while (NextPosition(outer, strides, index, at));
}

// Strides of a row-major tensor with extents `dims` after numpy broadcasting to
// `to`: 0 for repeated elements.
inline Shape BroadcastStrides(absl::Span<const int64_t> dims,
                              absl::Span<const int64_t> to) {
  const Shape own = RowMajorStrides(dims);
  const size_t missing = to.size() - dims.size();
  Shape strides(to.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == to[missing + i]) strides[missing + i] = own[i];
  }
  return strides;
}

// The lines of a tensor along one axis: element i of line (o, n) is at (o *
// extent + i) * inner + n.
struct AxisLines {
  AxisLines(absl::Span<const int64_t> dims, int axis) : extent(dims[axis]) {
    for (int i = 0; i < axis; ++i) outer *= dims[i];
    for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  }
  // visit(offset of the line's first element), row-major; step by `inner`.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t n = 0; n < inner; ++n) visit(o * extent * inner + n);
    }
  }
  int64_t outer = 1;
  int64_t extent;
  int64_t inner = 1;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_STRIDED_H_
