// Ops as index programs: one function for each family, which writes the loops
// and bodies of the node's program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_INDEX_OPS_H_
#define PARTITA_KERNELS_OP_PROGRAMS_INDEX_OPS_H_

#include "absl/status/status.h"
#include "kernels/op_programs/index_node.h"

namespace partita {

// Each is Unimplemented, naming the cause, for attributes and dtypes without a
// program. Values are row-major, except those of BuildReorder.

// moves.cc: elements of the operand at strides.
absl::Status BuildSameOrder(IndexNode& node);  // reshape, bit_cast, copy
absl::Status BuildTranspose(IndexNode& node);
absl::Status BuildExpand(IndexNode& node);
absl::Status BuildSlice(IndexNode& node);
absl::Status BuildDepthToSpace(IndexNode& node);
absl::Status BuildSpaceToDepth(IndexNode& node);
absl::Status BuildSplit(IndexNode& node, int result);

// reorder.cc: between any two layouts.
absl::Status BuildReorder(IndexNode& node);

// choices.cc: an element here or there, by coordinate.
absl::Status BuildConcat(IndexNode& node);
absl::Status BuildPad(IndexNode& node);
absl::Status BuildTile(IndexNode& node);
absl::Status BuildTrilu(IndexNode& node);

// fills.cc: without elements.
absl::Status BuildFill(IndexNode& node);
absl::Status BuildIota(IndexNode& node);
absl::Status BuildShape(IndexNode& node);
absl::Status BuildSize(IndexNode& node);

// random.cc
absl::Status BuildRandomUniform(IndexNode& node);

// gathers.cc: an index out of range gives 0.
absl::Status BuildGather(IndexNode& node);
absl::Status BuildGatherElements(IndexNode& node);
absl::Status BuildGatherNd(IndexNode& node);
absl::Status BuildOneHot(IndexNode& node);

// scatters.cc: each element of the result goes through all indices that may be
// its own, in their order, so that there are no atomics.
absl::Status BuildGatherGradient(IndexNode& node);
absl::Status BuildScatterElements(IndexNode& node);
absl::Status BuildScatterNd(IndexNode& node);

// scans.cc: steps along an axis.
absl::Status BuildCumsum(IndexNode& node);
absl::Status BuildCumprod(IndexNode& node);
absl::Status BuildArgMax(IndexNode& node);
absl::Status BuildArgMin(IndexNode& node);
absl::Status BuildHardmax(IndexNode& node);
absl::Status BuildTopK(IndexNode& node);

// pools.cc: the taps of a window, in row-major order.
absl::Status BuildMaxPool(IndexNode& node);
absl::Status BuildMaxPoolIndices(IndexNode& node);
absl::Status BuildAvgPool(IndexNode& node);

// pool_gradients.cc: the windows of an element, in the order of its taps.
absl::Status BuildMaxPoolGradient(IndexNode& node);
absl::Status BuildAvgPoolGradient(IndexNode& node);

// matmul.cc: products are added in the order of the summed dimension.
absl::Status BuildMatmul(IndexNode& node);

// convolutions.cc: products are added in the order of channels, then of taps;
// those of a filter's gradient in that of images, then of positions.
absl::Status BuildConv(IndexNode& node);
absl::Status BuildConvTranspose(IndexNode& node);
absl::Status BuildConvWeightGradient(IndexNode& node);

// softmax.cc
absl::Status BuildSoftmaxOfAxis(IndexNode& node);
absl::Status BuildLogSoftmaxOfAxis(IndexNode& node);

// attention.cc: the products of a query and a key are added in order.
absl::Status BuildAttention(IndexNode& node);
// attention_gradient.cc
absl::Status BuildAttentionGradient(IndexNode& node, int result);

// norm_gradients.cc: rows are added in order.
absl::Status BuildLayerNormScaleGradient(IndexNode& node);

// norms.cc: squares are added in order.
absl::Status BuildLrn(IndexNode& node);
absl::Status BuildLpNormOfAxis(IndexNode& node);

// determinants.cc
absl::Status BuildDet(IndexNode& node);

// resizes.cc
absl::Status BuildResize(IndexNode& node);
// resize_gradients.cc: the positions that may blend an element, in order.
absl::Status BuildResizeGradient(IndexNode& node);

// grid_samples.cc: the neighbours of a position, in row-major order.
absl::Status BuildGridSample(IndexNode& node);

// roi_align.cc: the points of a bin in row-major order, the neighbours of each.
absl::Status BuildRoiAlign(IndexNode& node);

// channels.cc
absl::Status BuildBatchNorm(IndexNode& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_INDEX_OPS_H_
