// Partita layouts as oneDNN memory descriptors, and back.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_MEMORY_DESC_H_
#define PARTITA_KERNELS_CPU_MEMORY_DESC_H_

#include <optional>

#include "graph/tensor_type.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// The descriptor of a type; a scalar becomes one element of one dimension.
// Nullopt for dtypes that oneDNN lacks, empty tensors, and too many dimensions.
std::optional<dnnl::memory::desc> DescOf(const TensorType& type);

// Row-major f32 over these extents.
dnnl::memory::desc RowMajorDesc(absl::Span<const int64_t> dims);
// Any layout, chosen by oneDNN. f32 or bf16.
dnnl::memory::desc AnyDesc(absl::Span<const int64_t> dims, DType dtype);
// With these strides, in elements.
dnnl::memory::desc StridedDesc(absl::Span<const int64_t> dims,
                               absl::Span<const int64_t> strides, DType dtype);

// The layout of a plain blocked, dense descriptor; nullopt for opaque formats,
// compensation flags, offsets and gaps.
std::optional<Layout> LayoutOf(const dnnl::memory::desc& desc);

// True if the channels of an element are adjacent; a single channel always is.
// Of an image that is row-major too, oneDNN may take either way.
bool IsChannelsLast(const dnnl::memory::desc& image);

// Convolution weights are (O, C/g, spatial...) in a graph and (g, O/g, C/g,
// spatial...) in oneDNN. These convert if the bytes are the same: always for
// row-major; for depthwise, blocks of O are blocks of g; otherwise blocks of O
// must divide O/g.
std::optional<dnnl::memory::desc> GroupedWeightsDesc(const TensorType& weights,
                                                     int64_t groups);
std::optional<Layout> GroupedWeightsLayout(const dnnl::memory::desc& desc);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_MEMORY_DESC_H_
