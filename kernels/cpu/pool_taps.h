// Which elements of a plane the windows of a pool over it meet, as a table.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_POOL_TAPS_H_
#define PARTITA_KERNELS_CPU_POOL_TAPS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/pool_image.h"

namespace partita {

// Windows side by side, as many as a vector has lanes. Lines of few windows, or
// few channels that lie together, leave most lanes of a loop over them empty;
// loops over the table go on across them.
inline constexpr int64_t kPoolLanes = 16;

struct PoolTaps {
  int64_t windows = 0;  // of a plane, one for each channel
  int64_t taps = 0;     // of a window
  // [windows / kPoolLanes, rounded up][taps][kPoolLanes] offsets in the plane,
  // taps in row-major order; -1 for padding and for lanes without a window.
  std::vector<int32_t> offsets;

  bool empty() const { return offsets.empty(); }
};

// Of an image whose neighbours in memory are neighbours in a line, or few
// channels of one position; empty if it is another, if its lines are long, or
// if the table would be large.
PoolTaps PoolTapsOf(const PoolImage& image);

// What one tap of the windows meets; anything where that is padding.
using PoolLanes = std::array<float, kPoolLanes>;
[[gnu::always_inline]] inline PoolLanes MetBy(const int32_t* offsets,
                                              const float* plane) {
  PoolLanes met;
  for (int64_t i = 0; i < kPoolLanes; ++i)
    met[i] = plane[std::max(offsets[i], 0)];
  return met;
}

// No element is met by two windows.
bool WindowsApart(const PoolImage& image);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_POOL_TAPS_H_
