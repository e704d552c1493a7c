// Windows and weights, in the graph's terms and in oneDNN's.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/convolution_parts.h"

#include <utility>

#include "kernels/cpu/memory_desc.h"

namespace partita {
namespace {

using dnnl::memory;

memory::dims Filled(const std::vector<int64_t>& values, int spatial,
                    int64_t otherwise) {
  memory::dims dims(spatial, otherwise);
  for (size_t i = 0; i < values.size() && i < dims.size(); ++i) {
    dims[i] = values[i];
  }
  return dims;
}

}  // namespace

ConvolutionWindow WindowOf(const OpView& op, int spatial,
                           const SpatialOrder& order) {
  const auto filled = [&](const char* name, int64_t otherwise) {
    return order.Of(Filled(op.attr_ints(name), spatial, otherwise));
  };
  ConvolutionWindow window{filled("strides", 1), filled("dilations", 1),
                           filled("pads_before", 0), filled("pads_after", 0)};
  for (int64_t& dilation : window.dilates) --dilation;
  return window;
}

std::optional<memory::desc> ConvolutionWeights::Desc(
    const std::optional<Layout>& layout) const {
  if (!layout.has_value()) return AnyDesc(Extents(), type_.dtype);
  const TensorType type{type_.dtype, type_.dims, *layout};
  std::optional<memory::desc> desc =
      groups_ > 1 ? GroupedWeightsDesc(type, groups_) : DescOf(type);
  if (desc.has_value() && transposed_) return desc->permute_axes(Axes());
  return desc;
}

std::optional<Layout> ConvolutionWeights::LayoutFrom(memory::desc desc) const {
  if (transposed_) desc = desc.permute_axes(Axes());
  return groups_ > 1 ? GroupedWeightsLayout(desc) : LayoutOf(desc);
}

Shape ConvolutionWeights::Extents() const {
  Shape dims = type_.dims;
  if (groups_ > 1) {
    dims[0] /= groups_;
    dims.insert(dims.begin(), groups_);
  }
  if (transposed_) std::swap(dims[groups_ > 1], dims[(groups_ > 1) + 1]);
  return dims;
}

std::vector<int> ConvolutionWeights::Axes() const {
  std::vector<int> axes(type_.rank() + (groups_ > 1));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  std::swap(axes[groups_ > 1], axes[(groups_ > 1) + 1]);
  return axes;
}

}  // namespace partita
