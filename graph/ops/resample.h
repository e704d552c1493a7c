// Sampling of one axis at other positions, for resize and its gradient.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RESAMPLE_H_
#define PARTITA_GRAPH_OPS_RESAMPLE_H_

#include <array>
#include <cstdint>
#include <string>

#include "graph/op_def.h"

namespace partita {

// `sizes` are the extents of the result.
inline constexpr std::array<AttrDef, kMaxAttrDefs> kResampleAttrs = {
    {StringAttr("mode", "nearest"), RequiredAttr("sizes", AttributeKind::kInts),
     FloatsAttr("scales"), StringAttr("coordinates", "half_pixel"),
     StringAttr("nearest", "round_prefer_floor"), FloatAttr("cubic_a", -0.75),
     BoolAttr("exclude_outside", false)}};

// The scaled extent: the product in f32, rounded down, as in ONNX Runtime; -1
// if it is not valid.
int64_t ResizedExtent(int64_t extent, double scale);

// Checks these attributes; messages name operand 0.
absl::Status CheckResample(const OpView& op);

// One axis: maps positions of the result to the operand.
struct AxisMap {
  int64_t from;  // extents
  int64_t to;
  double scale;
  bool of_f64 = false;  // positions are computed in f64, otherwise in f32
};
AxisMap MapOf(const OpView& op, int dim, int64_t from, int64_t to);
bool IsIdentity(const AxisMap& map);

// The position in the operand of element i of the result, for any coordinate
// transformation of Resize except tf_crop_and_resize. `to` is the rounded
// extent of the result.
double ResampledPosition(const std::string& mode, const AxisMap& map,
                         int64_t i);
// The element nearest to a position. It may be outside the operand.
double NearestElement(const std::string& rounding, double position);

// The element at position i in mode "nearest".
int64_t NearestTo(const OpView& op, const AxisMap& map, int64_t i);

// Unchanged axes may be split, with `sizes` of the shards to match. For an op
// where operand 0 and `sizes` are the two extents of each axis.
DimensionRule ResampleRule(const OpView& op);
void ResampleShards(const OpView& op, int factor, int64_t begin, int64_t end,
                    Attributes& attributes);

// The op's attributes for the gradient, from its result to the operand's
// extents.
Attributes BackToOperand(const OpView& op);

// Four neighbours of a position and their weights.
using Weights = std::array<double, 4>;
struct Sample {
  std::array<int64_t, 4> index;
  Weights weight;
};
// Keys' cubic convolution (1981) with parameter a: the weights of the elements
// at -1, 0, 1 and 2 from the floor of a position; `ratio` is its fraction.
Weights CubicWeights(double ratio, double a);
// The samples of position i, in any mode.
Sample SampleAt(const OpView& op, const AxisMap& map, int64_t i);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RESAMPLE_H_
