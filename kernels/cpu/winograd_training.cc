// onednn.winograd_4x4: 3x3 convolutions of stride 1 with an epilogue by F(4x4,
// 3x3), if oneDNN has it. It has it for training: the weights are transformed
// at every launch. cpu.winograd_4x4 computes convolutions without an epilogue.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/winograd_form.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) {
  if (!node.is(kFused) || !AllF32(node) || !IsConvolution(node, kConv)) {
    return false;
  }
  const OpView op = ReadChain(node)->root;
  const Shape& weights = op.operand_type(1).dims;
  return IsForTiles(op, absl::MakeConstSpan(weights).subspan(2));
}

// Images in blocks of channels, weights in oneDNN's layout. Not for constant
// weights: inference keeps the digits that larger tiles lose.
std::vector<LayoutWish> Wishes(const OpView& node) {
  LayoutWish wish = ImageWishes(node).back();
  const std::vector<int> operands = ReadChain(node)->root_operands;
  if (node.operand(operands[1]).is_constant()) return {};
  for (size_t i = 0; i < wish.operands.size(); ++i) {
    if (static_cast<int>(i) == operands[0]) continue;
    wish.operands[i] = std::nullopt;
  }
  return {std::move(wish)};
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeConvolution(node, wish, ConvolutionMethod::kTiles4);
}

}  // namespace

extern const OnednnFamily kOnednnWinogradTraining = {
    .kernel = "onednn.winograd_4x4",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
};

}  // namespace partita
