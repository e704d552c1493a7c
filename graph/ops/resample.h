// Sampling of one axis at other positions: what resizing and its gradient share
// of it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RESAMPLE_H_
#define PARTITA_GRAPH_OPS_RESAMPLE_H_

#include <array>
#include <cstdint>
#include <string>

#include "graph/op_def.h"

namespace partita {

// `sizes` are the extents that the op makes.
inline constexpr std::array<AttrDef, kMaxAttrDefs> kResampleAttrs = {
    {StringAttr("mode", "nearest"), RequiredAttr("sizes", AttributeKind::kInts),
     FloatsAttr("scales"), StringAttr("coordinates", "half_pixel"),
     StringAttr("nearest", "round_prefer_floor"), FloatAttr("cubic_a", -0.75),
     BoolAttr("exclude_outside", false)}};

// The extent that a scale makes of another: their product in f32, rounded down,
// as ONNX Runtime has it; -1 if it is no extent.
int64_t ResizedExtent(int64_t extent, double scale);

// Checks these attributes for an operand 0 that it names in messages.
absl::Status CheckResample(const OpView& op);

// One axis: how positions of the large or small result lie over the operand.
struct AxisMap {
  int64_t from;  // extents
  int64_t to;
  double scale;
  bool of_f64 = false;  // positions are computed in f64, else in f32
};
AxisMap MapOf(const OpView& op, int dim, int64_t from, int64_t to);
bool IsIdentity(const AxisMap& map);

// The position in the operand of element i of the result, by any coordinate
// transformation of Resize but tf_crop_and_resize. `to` is the result's extent,
// rounded as it is.
double ResampledPosition(const std::string& mode, const AxisMap& map,
                         int64_t i);
// The element nearest to a position, which may be outside of the operand.
double NearestElement(const std::string& rounding, double position);

// The element that position i shows in mode "nearest".
int64_t NearestTo(const OpView& op, const AxisMap& map, int64_t i);

// Axes that stay as they are may be split, with the pieces' sizes to match. Of
// an op whose operand 0 and `sizes` are the two extents of each axis.
DimensionRule ResampleRule(const OpView& op);
void ResamplePieces(const OpView& op, int factor, int64_t begin, int64_t end,
                    Attributes& attributes);

// The op's attributes for the way back, from its result to the operand's
// extents.
Attributes BackToOperand(const OpView& op);

// Four neighbours of a position, and how much each counts.
using Weights = std::array<double, 4>;
struct Sample {
  std::array<int64_t, 4> index;
  Weights weight;
};
// Keys' cubic convolution (1981) with parameter a: of the elements at -1, 0, 1
// and 2 from the floor of a position that is `ratio` behind it.
Weights CubicWeights(double ratio, double a);
// Of position i, in any mode.
Sample SampleAt(const OpView& op, const AxisMap& map, int64_t i);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RESAMPLE_H_
