// onednn.conv: with bias, residual and activations.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) { return IsConvolution(node, kConv); }

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeConvolution(node, wish, ConvolutionMethod::kDirect);
}

}  // namespace

extern const OnednnFamily kOnednnConv = {
    .kernel = "onednn.conv",
    .accepts = Accepts,
    .wishes = ConvolutionWishes,
    .describe = Describe,
    .has_alternatives = true,
};

}  // namespace partita
