// The windows of a pool over images in memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_POOL_IMAGE_H_
#define PARTITA_KERNELS_CPU_POOL_IMAGE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/op_view.h"

namespace partita {

// One spatial dimension of the window. Dimensions that the image lacks have
// extent and kernel 1.
struct PoolAxis {
  int64_t large = 1, small = 1, kernel = 1, stride = 1, dilation = 1,
          before = 0;
  // Positions [first, end) at which tap k is inside the image.
  [[gnu::always_inline]] int64_t First(int64_t k) const {
    const int64_t gap = before - k * dilation;
    return gap <= 0 ? 0 : std::min(small, (gap + stride - 1) / stride);
  }
  [[gnu::always_inline]] int64_t End(int64_t k) const {
    const int64_t room = large - 1 + before - k * dilation;
    return room < 0 ? 0 : std::min(small, room / stride + 1);
  }
  [[gnu::always_inline]] int64_t ElementAt(int64_t position, int64_t k) const {
    return position * stride - before + k * dilation;
  }
  [[gnu::always_inline]] bool Has(int64_t at) const {
    return at >= 0 && at < large;
  }
};

// The image as [planes, depth, height, width, inner]; `inner` are adjacent
// channels.
struct PoolImage {
  std::array<PoolAxis, 3> axes;
  int64_t channels = 1;
  int64_t inner = 1;
  int64_t blocks = 1;  // blocks of channels in an image
  int64_t planes = 1;
};

// The image of a pool over operand 0, f32 and in one of PoolLayouts. `small`:
// the extents of the tensor with an element for each window.
PoolImage PoolImageOf(const OpView& pool, absl::Span<const int64_t> small);

// Row-major, channels last, blocks of 8 and of 16 channels; empty if the pool
// has no element or is not f32.
std::vector<std::string> PoolLayouts(const OpView& pool);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_POOL_IMAGE_H_
