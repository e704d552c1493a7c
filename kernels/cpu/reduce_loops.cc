// Splits the operand's dimensions as its layout does, then merges neighbours.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/reduce_loops.h"

namespace partita {
namespace {

using Dim = ReduceLoops::Dim;

// The result's strides by the operand's dimensions; 0 if reduced.
Shape ResultStrides(const OpView& node) {
  Shape dims = node.operand_type(0).dims;
  for (int64_t axis : node.attr_ints("axes")) {
    dims[axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis] = 1;
  }
  Shape strides = RowMajorStrides(dims);
  for (int64_t axis : node.attr_ints("axes")) {
    strides[axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis] = 0;
  }
  return strides;
}

// Outermost first; a blocked dimension is two.
std::vector<Dim> InMemoryOrder(const Shape& x, const Layout& layout,
                               const Shape& to) {
  const Shape extents = PhysicalDims(layout, x);
  const Shape strides = RowMajorStrides(extents);
  std::vector<Dim> dims;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t dim = layout.is_row_major() ? i : layout.order[i];
    dims.push_back({extents[i], strides[i], to[dim]});
  }
  for (size_t b = 0; b < layout.blocks.size(); ++b) {
    const Layout::Block& block = layout.blocks[b];
    for (size_t i = 0; i < x.size(); ++i) {
      if (layout.order[i] == block.dim) dims[i].to_stride *= block.size;
    }
    dims.push_back({block.size, strides[x.size() + b], to[block.dim]});
  }
  return dims;
}

bool AreOne(const Dim& outer, const Dim& inner) {
  return outer.stride == inner.size * inner.stride &&
         outer.to_stride == inner.size * inner.to_stride &&
         (outer.to_stride == 0) == (inner.to_stride == 0);
}

std::vector<Dim> Merged(const std::vector<Dim>& dims) {
  std::vector<Dim> merged;
  for (const Dim& dim : dims) {
    if (dim.size == 1) continue;
    if (!merged.empty() && AreOne(merged.back(), dim)) {
      merged.back() = {merged.back().size * dim.size, dim.stride,
                       dim.to_stride};
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

// Channels that only fill the last block.
int64_t PaddingOf(const TensorType& x, const Layout& layout) {
  if (layout.blocks.empty()) return 0;
  const Layout::Block& block = layout.blocks[0];
  return (block.size - x.dims[block.dim] % block.size) % block.size;
}

// True for lines of neighbours too short to be reduced one by one.
bool HasShortLines(const ReduceLoops& loops) {
  constexpr int64_t kLongLine = 16;
  constexpr int64_t kManyLines = 8;
  return loops.columns.size == 1 && loops.columns.stride == 1 &&
         !loops.kept.empty() && loops.kept.back().size >= kManyLines &&
         loops.reduced.back().stride == 1 &&
         loops.reduced.back().size < kLongLine;
}

// Blocks that are merged with their channels, or a single block, end earlier.
void LeaveOutPadding(int64_t padding, const Layout& layout,
                     ReduceLoops& loops) {
  if (padding == 0) return;
  const int64_t block = layout.blocks[0].size;
  const bool apart = loops.columns.size == block && !loops.kept.empty() &&
                     loops.kept.back().to_stride == block;
  if (apart) {
    loops.padding = padding;
  } else {
    loops.columns.size -= padding;
  }
}

}  // namespace

ReduceLoops ReduceLoopsOf(const OpView& node, const Layout& layout) {
  std::vector<Dim> dims = Merged(
      InMemoryOrder(node.operand_type(0).dims, layout, ResultStrides(node)));
  ReduceLoops loops;
  if (!dims.empty() && dims.back().to_stride != 0) {
    loops.columns = dims.back();
    dims.pop_back();
  }
  for (const Dim& dim : dims) {
    const bool is_kept = dim.to_stride != 0;
    (is_kept ? loops.kept : loops.reduced).push_back(dim);
    (is_kept ? loops.groups : loops.count) *= dim.size;
  }
  if (loops.reduced.empty()) loops.reduced.push_back({1, 1, 0});
  if (HasShortLines(loops)) {
    loops.columns = loops.kept.back();
    loops.groups /= loops.columns.size;
    loops.kept.pop_back();
  }
  LeaveOutPadding(PaddingOf(node.operand_type(0), layout), layout, loops);
  loops.results = loops.groups * loops.columns.size;
  return loops;
}

}  // namespace partita
