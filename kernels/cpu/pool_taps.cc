// Lists each window's elements.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pool_taps.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace partita {
namespace {

constexpr int64_t kShortLine = 4 * kPoolLanes;
constexpr int64_t kMaxOffsets = 64 << 10;

// Splits the row-major index into one for each axis.
std::array<int64_t, 3> Split(int64_t index, int64_t height, int64_t width) {
  return {index / width / height, index / width % height, index % width};
}

int64_t Elements(const PoolImage& image) {
  int64_t elements = image.inner;
  for (const PoolAxis& axis : image.axes) elements *= axis.large;
  return elements;
}

// True if loops over a line, or over the channels of a position, fill few
// lanes.
bool LeavesLanesEmpty(const PoolImage& image) {
  if (image.inner == 1) return image.axes[2].small <= kShortLine;
  return image.inner == image.channels && image.inner < kPoolLanes;
}

int32_t OffsetOf(const PoolImage& image, int64_t window, int64_t tap) {
  const auto& axes = image.axes;
  const auto position =
      Split(window / image.inner, axes[1].small, axes[2].small);
  const auto step = Split(tap, axes[1].kernel, axes[2].kernel);
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t at = axes[i].ElementAt(position[i], step[i]);
    if (!axes[i].Has(at)) return -1;
    offset = offset * axes[i].large + at;
  }
  return static_cast<int32_t>(offset * image.inner + window % image.inner);
}

}  // namespace

PoolTaps PoolTapsOf(const PoolImage& image) {
  const auto& [depth, height, width] = image.axes;
  PoolTaps table;
  table.windows = depth.small * height.small * width.small * image.inner;
  table.taps = depth.kernel * height.kernel * width.kernel;
  const int64_t groups = (table.windows + kPoolLanes - 1) / kPoolLanes;
  if (!LeavesLanesEmpty(image) || Elements(image) > INT32_MAX ||
      groups * kPoolLanes * table.taps > kMaxOffsets) {
    return table;
  }
  for (int64_t first = 0; first < groups * kPoolLanes; first += kPoolLanes) {
    for (int64_t tap = 0; tap < table.taps; ++tap) {
      for (int64_t window = first; window < first + kPoolLanes; ++window) {
        table.offsets.push_back(
            window < table.windows ? OffsetOf(image, window, tap) : -1);
      }
    }
  }
  return table;
}

bool WindowsApart(const PoolImage& image) {
  return std::all_of(
      image.axes.begin(), image.axes.end(), [](const PoolAxis& axis) {
        const int64_t span = (axis.kernel - 1) * axis.dilation + 1;
        return axis.small == 1 || span <= axis.stride;
      });
}

}  // namespace partita
