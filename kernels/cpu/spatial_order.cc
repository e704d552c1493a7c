// Extents of 1 to the front.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/spatial_order.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"

namespace partita {

SpatialOrder::SpatialOrder(
    int spatial, std::initializer_list<absl::Span<const int64_t>> shapes)
    : order_(spatial) {
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_partition(order_.begin(), order_.end(), [&](int axis) {
    return absl::c_all_of(shapes, [&](absl::Span<const int64_t> dims) {
      return dims[dims.size() - spatial + axis] == 1;
    });
  });
  if (absl::c_is_sorted(order_)) order_.clear();
}

void SpatialOrder::Move(absl::Span<int64_t> dims) const {
  const absl::Span<int64_t> moved = dims.last(order_.size());
  const std::vector<int64_t> before(moved.begin(), moved.end());
  for (size_t i = 0; i < order_.size(); ++i) moved[i] = before[order_[i]];
}

// If spatial dimensions are in their own order and not blocked, one with extent
// 1 may be anywhere among them.
bool SpatialOrder::Keeps(const std::optional<Layout>& layout) const {
  if (order_.empty() || !layout.has_value() || layout->is_row_major()) {
    return true;
  }
  const int first = static_cast<int>(layout->order.size() - order_.size());
  std::vector<int> spatial;
  for (int dim : layout->order) {
    if (dim >= first) spatial.push_back(dim);
  }
  return absl::c_is_sorted(spatial) &&
         absl::c_none_of(layout->blocks, [&](const Layout::Block& block) {
           return block.dim >= first;
         });
}

}  // namespace partita
