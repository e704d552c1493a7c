// Fractional positions in a tensor, for grid_sample and its kernel.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_GRID_SAMPLER_H_
#define PARTITA_GRAPH_OPS_GRID_SAMPLER_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/op_view.h"

namespace partita {

// The elements that a coordinate reads along one axis. Index -1 is outside,
// with value 0.
struct GridTaps {
  std::array<int64_t, 4> index;
  std::array<double, 4> weight;
};

class GridSampler {
 public:
  // For a grid_sample node.
  explicit GridSampler(const OpView& op);

  // Elements along each axis that a position blends.
  int taps() const { return taps_; }
  GridTaps Along(double coordinate, int64_t extent) const;

 private:
  enum class Mode : uint8_t { kNearest, kLinear, kCubic };
  enum class Padding : uint8_t { kZeros, kBorder, kReflection };

  double Unnormalized(double at, int64_t extent) const;
  double Reflected(double at, int64_t extent) const;
  double Padded(double at, int64_t extent) const;
  int64_t Index(int64_t i, int64_t extent) const;

  Mode mode_;
  Padding padding_;
  bool align_corners_;
  int taps_;
};

// An element of a plane and its weight.
struct GridShare {
  int64_t offset;
  double weight;
};

// Sets `shares` to the taps() ^ rank elements that one position blends, with
// weight 0 outside. `grid` has its coordinates, the last dimension's first.
void SetShares(const GridSampler& sampler, const double* grid,
               absl::Span<const int64_t> extents,
               std::vector<GridShare>& shares);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_GRID_SAMPLER_H_
