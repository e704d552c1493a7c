// onednn.padded_conv: convolutions whose image is padded along the last
// dimension before the primitive reads it. Below AVX-512 oneDNN generates code
// only for windows that reach a few positions into the padding; for others it
// has only gemm.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/fused_chain.h"

namespace partita {
namespace {

// Positions of a row that its kernels sum together.
constexpr int64_t kFewPositions = 3;

bool Accepts(const OpView& node) {
  if (!AllF32(node) || !IsConvolution(node, kConv)) return false;
  const OpView op = ReadChain(node)->root;
  const size_t spatial = op.operand_type(0).rank() - 2;
  for (const char* pads : {"pads_before", "pads_after"}) {
    const std::vector<int64_t>& extents = op.attr_ints(pads);
    if (extents.size() == spatial && extents.back() > kFewPositions) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeConvolution(node, wish, ConvolutionMethod::kPadded);
}

}  // namespace

extern const OnednnFamily kOnednnPaddedConv = {
    .kernel = "onednn.padded_conv",
    .accepts = Accepts,
    .wishes = ConvolutionWishes,
    .describe = Describe,
};

}  // namespace partita
