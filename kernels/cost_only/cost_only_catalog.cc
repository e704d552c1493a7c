// The table of cost-only kernels, and the roofline over it.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cost_only/cost_only_catalog.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/device_rates.h"
#include "graph/in_place.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// The efficiency of a kind of kernel. These are estimates of what libraries of
// the field reach on large operands; none is measured, as no kernel of this
// build runs on these devices.
struct Family {
  const char* name;
  double flops;      // share of the dtype's peak
  double bandwidth;  // share of the memory bandwidth
  // Workspace: this many times the bytes of the results, up to the cap.
  double workspace_of_results = 0;
  int64_t workspace_cap = 0;
};

constexpr Family kConvFamily = {
    .name = "conv",
    .flops = 0.55,
    .bandwidth = 0.8,
    .workspace_of_results = 1,
    .workspace_cap = 32 << 20,
};
constexpr Family kMatmulFamily = {
    .name = "matmul",
    .flops = 0.7,
    .bandwidth = 0.8,
    .workspace_of_results = 0.5,
    .workspace_cap = 32 << 20,
};
constexpr Family kPoolFamily = {"pool", 0.3, 0.7};
constexpr Family kNormFamily = {"norm", 0.3, 0.7};
constexpr Family kReduceFamily = {"reduce", 0.3, 0.7};
constexpr Family kElementwiseFamily = {"elementwise", 0.5, 0.85};
constexpr Family kMoveFamily = {"move", 0.5, 0.8};
constexpr Family kOtherFamily = {"other", 0.05, 0.3};

struct Row {
  const OpDef* op;
  const Family* family;
};
constexpr Row kRows[] = {
    {&kConv, &kConvFamily},
    {&kConvTranspose, &kConvFamily},
    {&kConvWeightGradient, &kConvFamily},
    {&kMatmul, &kMatmulFamily},
    {&kAttention, &kMatmulFamily},
    {&kAttentionGradient, &kMatmulFamily},
    {&kMaxPool, &kPoolFamily},
    {&kMaxPoolGradient, &kPoolFamily},
    {&kAvgPool, &kPoolFamily},
    {&kAvgPoolGradient, &kPoolFamily},
    {&kSoftmax, &kNormFamily},
    {&kLogSoftmax, &kNormFamily},
    {&kBatchNorm, &kNormFamily},
    {&kLayerNorm, &kNormFamily},
    {&kLayerNormGradient, &kNormFamily},
    {&kLayerNormScaleGradient, &kNormFamily},
    {&kGroupNorm, &kNormFamily},
    {&kInstanceNorm, &kNormFamily},
    {&kReduceSum, &kReduceFamily},
    {&kReduceSumSquare, &kReduceFamily},
    {&kReduceMean, &kReduceFamily},
    {&kReduceMax, &kReduceFamily},
    {&kReduceMin, &kReduceFamily},
    {&kMoments, &kReduceFamily},
    {&kCrossMoments, &kReduceFamily},
    {&kGatherGradient, &kReduceFamily},
    {&kResize, &kPoolFamily},
    {&kGridSample, &kPoolFamily},
    {&kMaxPoolIndices, &kPoolFamily},
    {&kResizeGradient, &kPoolFamily},
    {&kRandomUniform, &kMoveFamily},
    {&kGather, &kMoveFamily},
    {&kPad, &kMoveFamily},
    {&kTile, &kMoveFamily},
    {&kReorder, &kMoveFamily},
    {&kCopy, &kMoveFamily},
};

const Family& FamilyOfOp(const OpDef& op) {
  for (const Row& row : kRows) {
    if (row.op == &op) return *row.family;
  }
  if (op.traits.elementwise) return kElementwiseFamily;
  if (op.moves != nullptr) return kMoveFamily;
  return kOtherFamily;
}

// A fused node has the family of its body's first op that is not elementwise.
const Family& FamilyOf(const OpView& node) {
  if (!node.is(kFused)) return FamilyOfOp(node.op());
  for (const OpView& op : node.region(0).ops()) {
    if (!op.is(kConstant) && !op.op().traits.elementwise) {
      return FamilyOfOp(op.op());
    }
  }
  return kElementwiseFamily;
}

DType ComputeType(const OpView& node) {
  if (node.num_operands() > 0) return node.operand_type(0).dtype;
  return node.num_results() > 0 ? node.result_type(0).dtype : DType::kF32;
}

KernelChoice RowMajorChoice(const OpView& node, const Family& family,
                            const DeviceTraits& device) {
  const DType dtype = ComputeType(node);
  const Cost cost = node.op().cost(node);
  const double peak = PeakFlops(device, dtype);
  const double bandwidth = MemoryBandwidth(device);
  int64_t result_bytes = 0;
  for (int i = 0; i < node.num_results(); ++i) {
    result_bytes += node.result_type(i).num_bytes();
  }
  KernelChoice choice;
  choice.kernel.library = kCostOnlyLibrary;
  choice.kernel.name = family.name;
  choice.operands.resize(node.num_operands());
  choice.results.resize(node.num_results());
  choice.workspace = std::min<int64_t>(
      family.workspace_cap,
      static_cast<int64_t>(family.workspace_of_results *
                           static_cast<double>(result_bytes)));
  choice.seconds = device.launch_seconds +
                   std::max(cost.flops / (peak * family.flops),
                            cost.bytes / (bandwidth * family.bandwidth));
  choice.seconds = std::max(choice.seconds, 1e-9);
  choice.arithmetics = {{.source = absl::StrCat("cost_only ", family.name),
                         .implementation = std::string(DTypeName(dtype))}};
  if (&family == &kElementwiseFamily) {
    choice.in_place = ElementwiseInPlace(node);
  }
  return choice;
}

// A layout conversion is offered between its own layouts.
bool SetReorderLayouts(const OpView& node, KernelChoice& choice) {
  choice.operands[0] = node.operand_type(0).layout;
  if (node.is(kCopy)) {
    choice.results[0] = node.operand_type(0).layout;
    return true;
  }
  const std::string& text = node.attr_string("layout");
  if (text.empty()) return true;
  const absl::StatusOr<Layout> layout =
      ParseLayout(text, node.operand_type(0).rank());
  if (layout.ok()) choice.results[0] = *layout;
  return layout.ok();
}

}  // namespace

std::vector<KernelChoice> CostOnlyCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (RunsHostCode(device) || !CodeTargetOf(device).empty()) return {};
  if (node.is(kConstant) || node.op().traits.reads_variable) return {};
  const Family& family = FamilyOf(node);
  std::vector<KernelChoice> choices;
  choices.push_back(RowMajorChoice(node, family, device));
  if ((node.is(kReorder) || node.is(kCopy)) &&
      !SetReorderLayouts(node, choices[0])) {
    return {};
  }
  return choices;
}

}  // namespace partita
