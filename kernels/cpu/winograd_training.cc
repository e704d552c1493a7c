// onednn.winograd_4x4: 3x3 convolutions of stride 1 by F(4x4, 3x3), and their
// gradients by the image and by the weights, where oneDNN has them. It has them
// for training: the weights are transformed at every launch.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/fused_chain.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) {
  if (!AllF32(node)) return false;
  if (node.is(kConvWeightGradient)) {
    return IsForTiles(node, node.attr_ints("kernel"));
  }
  if (!IsConvolution(node, kConv) && !IsConvolution(node, kConvTranspose)) {
    return false;
  }
  const OpView op = ReadChain(node)->root;
  const Shape& weights = op.operand_type(1).dims;
  return IsForTiles(op, absl::MakeConstSpan(weights).subspan(2));
}

// Images in blocks of channels; weights as oneDNN likes them, their gradient
// also row-major. Constant weights are not being trained: their results are
// for people, who are owed the digits that larger tiles lose.
std::vector<LayoutWish> Wishes(const OpView& node) {
  LayoutWish wish = ImageWishes(node).back();
  if (node.is(kConvWeightGradient)) {
    LayoutWish row_major = wish;
    wish.results[0] = std::nullopt;
    row_major.results[0] = Layout();
    return {std::move(wish), std::move(row_major)};
  }
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
  constexpr auto kMethod = ConvolutionMethod::kTiles4;
  return node.is(kConvWeightGradient)
             ? DescribeWeightGradient(node, wish, kMethod)
             : DescribeConvolution(node, wish, kMethod);
}

}  // namespace

extern const OnednnFamily kOnednnWinogradTraining = {
    .kernel = "onednn.winograd_4x4",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
    .relays_results = true,
};

}  // namespace partita
