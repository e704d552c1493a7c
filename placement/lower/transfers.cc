// Describes boxes of a row-major tensor as blocks of bytes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/transfers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr int64_t kMaxTransfers = 1024;

Shape Extents(const Box& box) {
  Shape dims;
  for (size_t i = 0; i < box.begin.size(); ++i) {
    dims.push_back(box.end[i] - box.begin[i]);
  }
  return dims;
}

Box Intersect(const Box& a, const Box& b) {
  Box box = a;
  for (size_t i = 0; i < a.begin.size(); ++i) {
    box.begin[i] = std::max(a.begin[i], b.begin[i]);
    box.end[i] = std::max(box.begin[i], std::min(a.end[i], b.end[i]));
  }
  return box;
}

int64_t Product(absl::Span<const int64_t> dims, int begin, int end) {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= dims[i];
  return product;
}

// The last dimension before `before` in which `shared` is narrower than one of
// the boxes, or -1.
int LastPartialDim(absl::Span<const int64_t> shared,
                   absl::Span<const int64_t> from, absl::Span<const int64_t> to,
                   int before) {
  for (int i = before - 1; i >= 0; --i) {
    if (shared[i] != from[i] || shared[i] != to[i]) return i;
  }
  return -1;
}

// The offset of `part` in `box`, in elements, advanced by `outer[i]` in each of
// the first dimensions.
int64_t Offset(const Box& box, const Box& part, absl::Span<const int64_t> outer,
               absl::Span<const int64_t> dims) {
  const Shape strides = RowMajorStrides(dims);
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t step = i < outer.size() ? outer[i] : 0;
    offset += (part.begin[i] - box.begin[i] + step) * strides[i];
  }
  return offset;
}

}  // namespace

// Let b < a be the last two dimensions in which only part of a box is copied.
// The dimensions from a on form a block. The dimensions b .. a-1 count blocks
// of one stride. Each index of the dimensions before b takes a range of its
// own.
absl::StatusOr<std::vector<RangePair>> TransfersBetween(const Box& from,
                                                        const Box& to,
                                                        int64_t element_bytes) {
  const Box part = Intersect(from, to);
  const Shape shared = Extents(part);
  const Shape in = Extents(from);
  const Shape out = Extents(to);
  const int rank = static_cast<int>(shared.size());
  std::vector<RangePair> pairs;
  if (Product(shared, 0, rank) == 0) return pairs;
  const int inner = std::max(0, LastPartialDim(shared, in, out, rank));
  const int middle = std::max(0, LastPartialDim(shared, in, out, inner));
  const int64_t block = Product(shared, inner, rank) * element_bytes;
  const int64_t count = Product(shared, middle, inner);
  const int64_t commands = Product(shared, 0, middle);
  if (commands > kMaxTransfers) {
    return absl::UnimplementedError(absl::StrCat(
        "found a resharding of ", commands, " separate blocks; expected ",
        kMaxTransfers, " at most; split along an outer dimension"));
  }
  Shape outer(middle, 0);
  for (int64_t i = 0; i < commands; ++i) {
    RangePair pair;
    pair.from = {Offset(from, part, outer, in) * element_bytes, block, count,
                 count == 1 ? 0 : Product(in, inner, rank) * element_bytes};
    pair.to = {Offset(to, part, outer, out) * element_bytes, block, count,
               count == 1 ? 0 : Product(out, inner, rank) * element_bytes};
    pairs.push_back(pair);
    for (int d = middle - 1; d >= 0 && ++outer[d] == shared[d]; --d) {
      outer[d] = 0;
    }
  }
  return pairs;
}

}  // namespace partita
