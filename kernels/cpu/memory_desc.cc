// Converts between layouts and blocked memory descriptors.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/memory_desc.h"

#include <algorithm>
#include <cstring>

namespace partita {
namespace {

std::optional<dnnl::memory::data_type> DataTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return dnnl::memory::data_type::f32;
    case DType::kBF16:
      return dnnl::memory::data_type::bf16;
    case DType::kI32:
      return dnnl::memory::data_type::s32;
    case DType::kI8:
      return dnnl::memory::data_type::s8;
    case DType::kU8:
      return dnnl::memory::data_type::u8;
    default:
      return std::nullopt;
  }
}

int64_t BlockOf(const dnnl_blocking_desc_t& blocking, int dim) {
  int64_t block = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    if (blocking.inner_idxs[i] == dim) block *= blocking.inner_blks[i];
  }
  return block;
}

// Sets extents, padding and dense strides of `md` for an order and for the
// blocks that md.format_desc.blocking already has.
void FillDense(dnnl_memory_desc_t& md, absl::Span<const int> order) {
  dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  int64_t stride = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    stride *= blocking.inner_blks[i];
  }
  for (size_t i = order.size(); i-- > 0;) {
    const int dim = order[i];
    const int64_t block = BlockOf(blocking, dim);
    const int64_t outer = (md.dims[dim] + block - 1) / block;
    md.padded_dims[dim] = outer * block;
    blocking.strides[dim] = stride;
    stride *= outer;
  }
}

std::optional<dnnl_memory_desc_t> Blocked(
    DType dtype, absl::Span<const int64_t> dims, absl::Span<const int> order,
    absl::Span<const Layout::Block> blocks) {
  const auto data_type = DataTypeOf(dtype);
  if (!data_type.has_value() || dims.size() > DNNL_MAX_NDIMS) {
    return std::nullopt;
  }
  dnnl_memory_desc_t md;
  std::memset(&md, 0, sizeof(md));
  md.ndims = static_cast<int>(dims.size());
  md.data_type = static_cast<dnnl_data_type_t>(*data_type);
  md.format_kind = dnnl_blocked;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) return std::nullopt;
    md.dims[i] = dims[i];
  }
  dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  blocking.inner_nblks = static_cast<int>(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocking.inner_blks[i] = blocks[i].size;
    blocking.inner_idxs[i] = blocks[i].dim;
  }
  FillDense(md, order);
  return md;
}

// The number of blocks along dimension `dim`.
int64_t StepsOf(const dnnl_memory_desc_t& md, int dim) {
  return md.padded_dims[dim] / BlockOf(md.format_desc.blocking, dim);
}

// The dimensions, outermost first. The stride of a dimension with one step has
// no meaning; oneDNN sets it to that of the dimension around it. Other ties
// keep the natural order.
absl::InlinedVector<int, 8> OrderOf(const dnnl_memory_desc_t& md) {
  absl::InlinedVector<int, 8> order;
  for (int i = 0; i < md.ndims; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const auto& strides = md.format_desc.blocking.strides;
    if (strides[a] != strides[b]) return strides[a] > strides[b];
    return StepsOf(md, a) > 1 && StepsOf(md, b) == 1;
  });
  return order;
}

bool IsPlainBlocked(const dnnl_memory_desc_t& md) {
  if (md.format_kind != dnnl_blocked || md.offset0 != 0 ||
      md.extra.flags != 0) {
    return false;
  }
  for (int i = 0; i < md.ndims; ++i) {
    if (md.padded_offsets[i] != 0 || md.dims[i] < 1) return false;
  }
  return true;
}

// True if `md` has no gaps with its dimensions in `order`.
bool IsDense(const dnnl_memory_desc_t& md, absl::Span<const int> order) {
  dnnl_memory_desc_t dense = md;
  FillDense(dense, order);
  for (int i = 0; i < md.ndims; ++i) {
    if (dense.padded_dims[i] != md.padded_dims[i]) return false;
    if (StepsOf(md, i) == 1) continue;
    if (dense.format_desc.blocking.strides[i] !=
        md.format_desc.blocking.strides[i]) {
      return false;
    }
  }
  return true;
}

Layout MakeLayout(absl::Span<const int> order,
                  const dnnl_blocking_desc_t& blocking) {
  Layout layout;
  for (int dim : order) layout.order.push_back(static_cast<uint8_t>(dim));
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    layout.blocks.push_back({static_cast<uint8_t>(blocking.inner_idxs[i]),
                             static_cast<int32_t>(blocking.inner_blks[i])});
  }
  return Canonical(std::move(layout));
}

absl::InlinedVector<int, 8> OrderOf(const Layout& layout, int rank) {
  absl::InlinedVector<int, 8> order;
  for (int i = 0; i < rank; ++i) {
    order.push_back(layout.is_row_major() ? i : layout.order[i]);
  }
  return order;
}

}  // namespace

std::optional<dnnl::memory::desc> DescOf(const TensorType& type) {
  if (type.rank() == 0) {
    TensorType one = type;
    one.dims.push_back(1);
    return DescOf(one);
  }
  const auto md =
      Blocked(type.dtype, type.dims, OrderOf(type.layout, type.rank()),
              type.layout.blocks);
  if (!md.has_value()) return std::nullopt;
  return dnnl::memory::desc(*md);
}

dnnl::memory::desc RowMajorDesc(absl::Span<const int64_t> dims) {
  return StridedDesc(dims, RowMajorStrides(dims), DType::kF32);
}

dnnl::memory::desc AnyDesc(absl::Span<const int64_t> dims, DType dtype) {
  return {{dims.begin(), dims.end()},
          *DataTypeOf(dtype),
          dnnl::memory::format_tag::any};
}

dnnl::memory::desc StridedDesc(absl::Span<const int64_t> dims,
                               absl::Span<const int64_t> strides, DType dtype) {
  return {{dims.begin(), dims.end()},
          *DataTypeOf(dtype),
          dnnl::memory::dims(strides.begin(), strides.end())};
}

std::optional<Layout> LayoutOf(const dnnl::memory::desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!IsPlainBlocked(md)) return std::nullopt;
  const absl::InlinedVector<int, 8> order = OrderOf(md);
  if (!IsDense(md, order)) return std::nullopt;
  return MakeLayout(order, md.format_desc.blocking);
}

bool IsChannelsLast(const dnnl::memory::desc& image) {
  const dnnl_blocking_desc_t& layout = image.data.format_desc.blocking;
  return layout.inner_nblks == 0 &&
         (layout.strides[1] == 1 || image.data.dims[1] == 1);
}

std::optional<dnnl::memory::desc> GroupedWeightsDesc(const TensorType& weights,
                                                     int64_t groups) {
  const int64_t out = weights.dims[0] / groups;
  const bool depthwise = out == 1;
  Shape dims = {groups, out};
  dims.insert(dims.end(), weights.dims.begin() + 1, weights.dims.end());
  absl::InlinedVector<int, 8> order;
  for (int dim : OrderOf(weights.layout, weights.rank())) {
    if (dim == 0) order.push_back(0);
    order.push_back(dim + 1);
  }
  absl::InlinedVector<Layout::Block, 2> blocks = weights.layout.blocks;
  int64_t out_block = 1;
  for (Layout::Block& block : blocks) {
    if (block.dim == 0) out_block *= block.size;
    if (block.dim > 0 || !depthwise) ++block.dim;
  }
  if (!depthwise && out % out_block != 0) return std::nullopt;
  const auto md = Blocked(weights.dtype, dims, order, blocks);
  if (!md.has_value()) return std::nullopt;
  return dnnl::memory::desc(*md);
}

std::optional<Layout> GroupedWeightsLayout(const dnnl::memory::desc& desc) {
  const std::optional<Layout> grouped = LayoutOf(desc);
  if (!grouped.has_value()) return std::nullopt;
  if (grouped->is_row_major()) return grouped;
  const int64_t out = desc.data.dims[1];
  Layout layout;
  for (size_t i = 0; i < grouped->order.size(); ++i) {
    const int dim = grouped->order[i];
    if (dim == 0) {
      // To merge them, O/g must follow g directly; a single step may be
      // anywhere.
      const bool next =
          i + 1 < grouped->order.size() && grouped->order[i + 1] == 1;
      if (!next && out != 1) return std::nullopt;
      layout.order.push_back(0);
    } else if (dim > 1) {
      layout.order.push_back(static_cast<uint8_t>(dim - 1));
    }
  }
  int64_t out_block = 1;
  for (const Layout::Block& block : grouped->blocks) {
    if (block.dim == 0 && out != 1) return std::nullopt;
    if (block.dim == 1) out_block *= block.size;
    layout.blocks.push_back(
        {static_cast<uint8_t>(block.dim == 0 ? 0 : block.dim - 1), block.size});
  }
  if (out % out_block != 0) return std::nullopt;
  return Canonical(std::move(layout));
}

}  // namespace partita
