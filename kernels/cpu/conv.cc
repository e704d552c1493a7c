// The families of convolutions. Each computes the nodes that it accepts by one
// method of oneDNN.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/winograd_form.h"

namespace partita {
namespace {

template <ConvolutionMethod method>
absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  return DescribeConvolution(node, wish, method);
}

bool IsConv(const OpView& node) { return IsConvolution(node, kConv); }
bool IsConvTranspose(const OpView& node) {
  return IsConvolution(node, kConvTranspose);
}
bool IsF32Conv(const OpView& node) { return AllF32(node) && IsConv(node); }

// True for pads that the kernels of the direct method do not reach.
bool HasWidePads(const OpView& node) {
  // Positions of a row that its kernels sum together.
  constexpr int64_t kFewPositions = 3;
  if (!IsF32Conv(node)) return false;
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

bool HasTiles(const OpView& node) {
  if (!IsF32Conv(node)) return false;
  const OpView op = ReadChain(node)->root;
  const Shape& weights = op.operand_type(1).dims;
  return IsForTiles(op, absl::MakeConstSpan(weights).subspan(2));
}

bool HasTilesAndEpilogue(const OpView& node) {
  return node.is(kFused) && HasTiles(node);
}

// Images in blocks of channels, the only layout of tiles, and weights in
// oneDNN's layout.
std::vector<LayoutWish> TileWishes(const OpView& node) {
  LayoutWish wish = ImageWishes(node).back();
  const FusedChain chain = *ReadChain(node);
  for (size_t i = 0; i < wish.operands.size(); ++i) {
    if (static_cast<int>(i) == chain.root_operands[0]) continue;
    wish.operands[i] = std::nullopt;
  }
  return {std::move(wish)};
}

// Not for constant weights: inference keeps the digits that larger tiles lose.
std::vector<LayoutWish> LargeTileWishes(const OpView& node) {
  const int weights = ReadChain(node)->root_operands[1];
  if (node.operand(weights).is_constant()) return {};
  return TileWishes(node);
}

}  // namespace

// With bias, residual and activations.
extern const OnednnFamily kOnednnConv = {
    .kernel = "onednn.conv",
    .accepts = IsConv,
    .wishes = ConvolutionWishes,
    .describe = Describe<ConvolutionMethod::kDirect>,
    .has_alternatives = true,
};

// oneDNN's deconvolution.
extern const OnednnFamily kOnednnConvTranspose = {
    .kernel = "onednn.conv_transpose",
    .accepts = IsConvTranspose,
    .wishes = ConvolutionWishes,
    .describe = Describe<ConvolutionMethod::kDirect>,
};

// The image is padded along the last dimension before the primitive reads it.
// Below AVX-512 oneDNN generates code only for windows that reach a few
// positions into the padding; for others it has only gemm.
extern const OnednnFamily kOnednnPaddedConv = {
    .kernel = "onednn.padded_conv",
    .accepts = HasWidePads,
    .wishes = ConvolutionWishes,
    .describe = Describe<ConvolutionMethod::kPadded>,
};

// 3x3 convolutions of stride 1 by F(2x2, 3x3), if oneDNN has it.
extern const OnednnFamily kOnednnWinograd = {
    .kernel = "onednn.winograd",
    .accepts = HasTiles,
    .wishes = TileWishes,
    .describe = Describe<ConvolutionMethod::kTiles2>,
};

// The same with an epilogue by F(4x4, 3x3), if oneDNN has it. It is for
// training: every launch transforms the weights. cpu.winograd_4x4 computes
// convolutions without an epilogue.
extern const OnednnFamily kOnednnWinogradTraining = {
    .kernel = "onednn.winograd_4x4",
    .accepts = HasTilesAndEpilogue,
    .wishes = LargeTileWishes,
    .describe = Describe<ConvolutionMethod::kTiles4>,
};

}  // namespace partita
