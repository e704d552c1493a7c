// onednn.conv_transpose: oneDNN's deconvolution.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) { return IsConvolution(node, kConvTranspose); }

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeConvolution(node, wish, ConvolutionMethod::kDirect);
}

}  // namespace

extern const OnednnFamily kOnednnConvTranspose = {
    .kernel = "onednn.conv_transpose",
    .accepts = Accepts,
    .wishes = ConvolutionWishes,
    .describe = Describe,
};

}  // namespace partita
