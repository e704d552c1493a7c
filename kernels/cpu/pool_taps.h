// A table of the elements that a pool's windows over a plane contain.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_POOL_TAPS_H_
#define PARTITA_KERNELS_CPU_POOL_TAPS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/pool_image.h"

namespace partita {

// Windows side by side, as many as a vector's lanes. With short lines, or few
// adjacent channels, a loop over them leaves most lanes empty; a loop over the
// table does not.
inline constexpr int64_t kPoolLanes = 16;

struct PoolTaps {
  int64_t windows = 0;  // of a plane, one for each channel
  int64_t taps = 0;     // of a window
  // [windows / kPoolLanes, rounded up][taps][kPoolLanes] offsets in the plane,
  // taps in row-major order; -1 for padding and for lanes without a window.
  std::vector<int32_t> offsets;

  bool empty() const { return offsets.empty(); }
};

// For an image with short lines, or with few adjacent channels. Empty for other
// images, or if the table would be large.
PoolTaps PoolTapsOf(const PoolImage& image);

// The elements of one tap of the windows; undefined for padding.
using PoolLanes = std::array<float, kPoolLanes>;
[[gnu::always_inline]] inline PoolLanes ElementsOf(const int32_t* offsets,
                                                   const float* plane) {
  PoolLanes loaded;
  for (int64_t i = 0; i < kPoolLanes; ++i)
    loaded[i] = plane[std::max(offsets[i], 0)];
  return loaded;
}

// True if no two windows share an element.
bool WindowsApart(const PoolImage& image);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_POOL_TAPS_H_
