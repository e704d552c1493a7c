// The order in which oneDNN gets the spatial dimensions of an image.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_SPATIAL_ORDER_H_
#define PARTITA_KERNELS_CPU_SPATIAL_ORDER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "graph/tensor_type.h"

namespace partita {

// oneDNN's generated code for convolutions and pools goes over the last spatial
// dimension in blocks, and is several times slower if that has extent 1: 5x1
// over [1, 256, 512, 1] is 1x5 over [1, 256, 1, 512], with the same bytes.
class SpatialOrder {
 public:
  // Dimensions in which all of these shapes, whose last dimensions are spatial,
  // have extent 1 come first.
  SpatialOrder(int spatial,
               std::initializer_list<absl::Span<const int64_t>> shapes);

  // `dims` in this order; those before the spatial ones stay.
  template <typename Dims>
  Dims Of(Dims dims) const {
    Move(absl::MakeSpan(dims));
    return dims;
  }
  TensorType Of(TensorType type) const {
    Move(absl::MakeSpan(type.dims));
    return type;
  }

  // True if a value of the layout has the same bytes in that layout with its
  // dimensions in this order. False for an open layout.
  bool Keeps(const std::optional<Layout>& layout) const;

 private:
  void Move(absl::Span<int64_t> dims) const;

  std::vector<int> order_;  // the dimension at each position; empty: unchanged
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_SPATIAL_ORDER_H_
