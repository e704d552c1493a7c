// onednn.conv_weight_gradient: what oneDNN calls a convolution backward by its
// weights.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

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

// All as oneDNN likes it; or with weights that the optimizer reads row-major,
// and the images as oneDNN likes them, with channels last, which takes the
// least time where they are few, or in whole blocks, whatever the channels.
std::vector<LayoutWish> Wishes(const OpView& node) {
  std::vector<LayoutWish> wishes = {AnyWish(node), AnyWish(node)};
  for (LayoutWish& images : ImageWishes(node)) {
    wishes.push_back(std::move(images));
  }
  for (size_t i = 1; i < wishes.size(); ++i) wishes[i].results[0] = Layout();
  return wishes;
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeWeightGradient(node, wish);
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
