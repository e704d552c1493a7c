// onednn.conv_weight_gradient: what oneDNN calls a convolution backward by its
// weights.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) {
  if (!node.is(kConvWeightGradient)) return false;
  if (!AllF32(node) && !IsBf16Product(node)) return false;
  const int rank = node.operand_type(0).rank();
  return rank >= 3 && rank <= 5;
}

// All as oneDNN likes it, or with weights that the optimizer reads row-major;
// the same of whole blocks, whatever the channels.
std::vector<LayoutWish> Wishes(const OpView& node) {
  LayoutWish row_major_result = AnyWish(node);
  row_major_result.results[0] = Layout();
  LayoutWish blocks = ImageWishes(node).back();
  blocks.results[0] = Layout();
  return {AnyWish(node), row_major_result, blocks, RowMajorWish(node)};
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeWeightGradient(node, wish, ConvolutionMethod::kDirect);
}

}  // namespace

extern const OnednnFamily kOnednnConvWeightGradient = {
    .kernel = "onednn.conv_weight_gradient",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
    .relays_results = true,
};

}  // namespace partita
