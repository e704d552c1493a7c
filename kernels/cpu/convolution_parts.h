// Shared by convolutions, their transposes and their gradients.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_CONVOLUTION_PARTS_H_
#define PARTITA_KERNELS_CPU_CONVOLUTION_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op_view.h"
#include "graph/tensor_type.h"
#include "kernels/cpu/spatial_order.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// By spatial dimension; a dilation of 0 is none.
struct ConvolutionWindow {
  dnnl::memory::dims strides, dilates, before, after;
};

// The op's attributes with their defaults filled in.
ConvolutionWindow WindowOf(const OpView& op, int spatial,
                           const SpatialOrder& order);

// Converts weights between the graph's layout and oneDNN's descriptor.
class ConvolutionWeights {
 public:
  ConvolutionWeights(TensorType type, int64_t groups, bool transposed)
      : type_(std::move(type)), groups_(groups), transposed_(transposed) {}

  std::optional<dnnl::memory::desc> Desc(
      const std::optional<Layout>& layout) const;
  std::optional<Layout> LayoutFrom(dnnl::memory::desc desc) const;

 private:
  Shape Extents() const;
  // Swaps input and output channels; its own inverse.
  std::vector<int> Axes() const;

  TensorType type_;
  int64_t groups_;
  bool transposed_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_CONVOLUTION_PARTS_H_
