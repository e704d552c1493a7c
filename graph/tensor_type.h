// The type of a value: element type, extents and layout.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TENSOR_TYPE_H_
#define PARTITA_GRAPH_TENSOR_TYPE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/dtype.h"
#include "graph/layout.h"

namespace partita {

inline constexpr int kMaxRank = 12;
// The largest size of a tensor in bytes (64 TiB). It keeps every product of
// extents far from overflow.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 46;

// `f32[1, 64, 56, 56]{abcd16b}`. The counts below need a type that passes
// CheckType; every type in a graph has passed it.
struct TensorType {
  int rank() const { return static_cast<int>(dims.size()); }
  // Product of the extents; 1 for a scalar.
  int64_t num_elements() const;
  // Elements in memory, including the layout's padding.
  int64_t num_stored_elements() const;
  // Bytes in memory, including padding.
  int64_t num_bytes() const;
  std::string ToString() const;
  // The same type laid out row-major.
  TensorType RowMajor() const { return {dtype, dims, {}}; }

  friend bool operator==(const TensorType&, const TensorType&) = default;

  DType dtype = DType::kF32;
  Shape dims;
  Layout layout;
};

// InvalidArgument for negative extents, too high a rank, a layout of another
// rank, or more than kMaxTensorBytes.
absl::Status CheckType(const TensorType& type);

// The product of valid extents; 1 for none.
int64_t Product(absl::Span<const int64_t> dims);
// Row-major strides, in elements.
Shape RowMajorStrides(absl::Span<const int64_t> dims);

}  // namespace partita

#endif  // PARTITA_GRAPH_TENSOR_TYPE_H_
