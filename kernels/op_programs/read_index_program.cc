// The table.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/read_index_program.h"

#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

struct Row {
  const OpDef* op;
  absl::Status (*build)(IndexNode& node);
};
constexpr Row kRows[] = {
    {&kReshape, BuildSameOrder},
    {&kBitCast, BuildSameOrder},
    {&kTranspose, BuildTranspose},
    {&kExpand, BuildExpand},
    {&kSlice, BuildSlice},
    {&kDepthToSpace, BuildDepthToSpace},
    {&kSpaceToDepth, BuildSpaceToDepth},
    {&kReorder, BuildReorder},
    {&kConcat, BuildConcat},
    {&kPad, BuildPad},
    {&kTile, BuildTile},
    {&kTrilu, BuildTrilu},
    {&kFill, BuildFill},
    {&kIota, BuildIota},
    {&kShape, BuildShape},
    {&kSize, BuildSize},
    {&kRandomUniform, BuildRandomUniform},
    {&kGather, BuildGather},
    {&kGatherElements, BuildGatherElements},
    {&kGatherNd, BuildGatherNd},
    {&kOneHot, BuildOneHot},
    {&kGatherGradient, BuildGatherGradient},
    {&kScatterElements, BuildScatterElements},
    {&kScatterNd, BuildScatterNd},
    {&kCumsum, BuildCumsum},
    {&kCumprod, BuildCumprod},
    {&kArgMax, BuildArgMax},
    {&kArgMin, BuildArgMin},
    {&kHardmax, BuildHardmax},
    {&kTopK, BuildTopK},
    {&kMaxPool, BuildMaxPool},
    {&kMaxPoolIndices, BuildMaxPoolIndices},
    {&kAvgPool, BuildAvgPool},
    {&kMaxPoolGradient, BuildMaxPoolGradient},
    {&kAvgPoolGradient, BuildAvgPoolGradient},
    {&kMatmul, BuildMatmul},
    {&kConv, BuildConv},
    {&kConvTranspose, BuildConvTranspose},
    {&kConvWeightGradient, BuildConvWeightGradient},
    {&kSoftmax, BuildSoftmaxOfAxis},
    {&kLogSoftmax, BuildLogSoftmaxOfAxis},
    {&kAttention, BuildAttention},
    {&kLayerNormScaleGradient, BuildLayerNormScaleGradient},
    {&kLrn, BuildLrn},
    {&kLpNorm, BuildLpNormOfAxis},
    {&kDet, BuildDet},
    {&kResize, BuildResize},
    {&kResizeGradient, BuildResizeGradient},
    {&kGridSample, BuildGridSample},
    {&kRoiAlign, BuildRoiAlign},
    {&kBatchNorm, BuildBatchNorm},
};

const Row* FindRow(const OpDef& op) {
  const Row* row =
      absl::c_find_if(kRows, [&](const Row& known) { return known.op == &op; });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

bool IsIndexOp(const OpDef& op) { return FindRow(op) != nullptr; }

absl::Status BuildIndexProgram(IndexNode& node) {
  const Row* row = FindRow(node.op().op());
  return row == nullptr ? node.NotGenerated("such an op") : row->build(node);
}

absl::StatusOr<IndexProgram> ReadIndexProgram(const OpView& op, bool has_fma) {
  IndexNode node(op, has_fma);
  PARTITA_RETURN_IF_ERROR(BuildIndexProgram(node));
  return std::move(node.program());
}

}  // namespace partita
