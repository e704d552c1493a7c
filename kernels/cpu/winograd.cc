// onednn.winograd: 3x3 convolutions of stride 1 by F(2x2, 3x3), if oneDNN has
// it.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/winograd_form.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) {
  if (!AllF32(node) || !IsConvolution(node, kConv)) return false;
  const OpView op = ReadChain(node)->root;
  const Shape& weights = op.operand_type(1).dims;
  return IsForTiles(op, absl::MakeConstSpan(weights).subspan(2));
}

// Images in blocks of channels, its only layout.
std::vector<LayoutWish> Wishes(const OpView& node) {
  LayoutWish wish = ImageWishes(node).back();
  const FusedChain chain = *ReadChain(node);
  for (size_t i = 0; i < wish.operands.size(); ++i) {
    if (static_cast<int>(i) == chain.root_operands[0]) continue;
    wish.operands[i] = std::nullopt;
  }
  return {std::move(wish)};
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeConvolution(node, wish, ConvolutionMethod::kTiles2);
}

}  // namespace

extern const OnednnFamily kOnednnWinograd = {
    .kernel = "onednn.winograd",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
};

}  // namespace partita
