// Coordinates, padding and weights.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/grid_sampler.h"

#include <algorithm>
#include <cmath>

#include "graph/ops/resample.h"

namespace partita {

GridSampler::GridSampler(const OpView& op)
    : align_corners_(op.attr_bool("align_corners")) {
  const std::string mode = op.attr_string("mode");
  const std::string padding = op.attr_string("padding");
  mode_ = mode == "nearest"  ? Mode::kNearest
          : mode == "linear" ? Mode::kLinear
                             : Mode::kCubic;
  padding_ = padding == "zeros"    ? Padding::kZeros
             : padding == "border" ? Padding::kBorder
                                   : Padding::kReflection;
  taps_ = mode_ == Mode::kNearest ? 1 : mode_ == Mode::kLinear ? 2 : 4;
}

GridTaps GridSampler::Along(double coordinate, int64_t extent) const {
  double at = Unnormalized(coordinate, extent);
  if (mode_ == Mode::kNearest) at = std::nearbyint(at);
  at = Padded(at, extent);
  const double floor = std::floor(at);
  const double ratio = at - floor;
  GridTaps taps = {};
  switch (mode_) {
    case Mode::kNearest:
      taps.weight = {1};
      break;
    case Mode::kLinear:
      taps.weight = {1 - ratio, ratio};
      break;
    case Mode::kCubic:
      taps.weight = CubicWeights(ratio, -0.75);
  }
  const int64_t first =
      static_cast<int64_t>(floor) - (mode_ == Mode::kCubic ? 1 : 0);
  for (int n = 0; n < taps_; ++n) taps.index[n] = Index(first + n, extent);
  return taps;
}

// Converts -1..1 to element positions. Clamps extreme positions to the integer
// range; NaN is outside.
double GridSampler::Unnormalized(double at, int64_t extent) const {
  const double size = static_cast<double>(extent);
  at = align_corners_ ? (at + 1) / 2 * (size - 1) : ((at + 1) * size - 1) / 2;
  constexpr double kFar = 1e12;
  return std::isnan(at) ? -kFar : std::clamp(at, -kFar, kFar);
}

// Reflects at the first and last element, or at their outer edges.
double GridSampler::Reflected(double at, int64_t extent) const {
  const double low = align_corners_ ? 0 : -0.5;
  const double span = static_cast<double>(extent) - (align_corners_ ? 1 : 0);
  if (span == 0) return low;
  const double way = std::fmod(std::abs(at - low), 2 * span);
  return low + (way > span ? 2 * span - way : way);
}

// In a cubic blend border handling applies to each neighbour, as in ONNX
// Runtime and PyTorch.
double GridSampler::Padded(double at, int64_t extent) const {
  const double edge = align_corners_ ? 0 : -0.5;
  const double last = static_cast<double>(extent - 1);
  if (at >= edge && at <= last - edge) return at;
  if (padding_ == Padding::kBorder && mode_ != Mode::kCubic) {
    return std::clamp(at, 0.0, last);
  }
  return padding_ == Padding::kReflection ? Reflected(at, extent) : at;
}

int64_t GridSampler::Index(int64_t i, int64_t extent) const {
  if (i >= 0 && i < extent) return i;
  if (padding_ == Padding::kZeros) return -1;
  if (padding_ == Padding::kReflection) {
    i = static_cast<int64_t>(Reflected(static_cast<double>(i), extent));
  }
  return std::clamp<int64_t>(i, 0, extent - 1);
}

void SetShares(const GridSampler& sampler, const double* grid,
               absl::Span<const int64_t> extents,
               std::vector<GridShare>& shares) {
  shares.assign(1, {0, 1});
  for (size_t d = 0; d < extents.size(); ++d) {
    const GridTaps taps =
        sampler.Along(grid[extents.size() - 1 - d], extents[d]);
    const size_t coarse = shares.size();
    const size_t each = static_cast<size_t>(sampler.taps());
    shares.resize(coarse * each);
    for (size_t i = coarse; i-- > 0;) {
      const GridShare share = shares[i];
      for (size_t n = 0; n < each; ++n) {
        const int64_t index = taps.index[n];
        shares[i * each + n] = {
            share.offset * extents[d] + std::max<int64_t>(index, 0),
            index < 0 ? 0 : share.weight * taps.weight[n]};
      }
    }
  }
}

}  // namespace partita
