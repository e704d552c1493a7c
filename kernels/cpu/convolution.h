// Shared by convolutions and their transposes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_CONVOLUTION_H_
#define PARTITA_KERNELS_CPU_CONVOLUTION_H_

#include <vector>

#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// True if the node is `op`, or a fused chain after it that oneDNN supports.
bool IsConvolution(const OpView& node, const OpDef& op);

// Images in the layouts that networks use and weights as oneDNN prefers them;
// and everything row-major.
std::vector<LayoutWish> ConvolutionWishes(const OpView& node);

// How a convolution is computed: directly, with the image's last dimension
// padded by the primitive or in advance, or by Winograd's F(2x2, 3x3) or F(4x4,
// 3x3) over tiles of the image.
enum class ConvolutionMethod { kDirect, kPadded, kTiles2, kTiles4 };

// A convolution or its transpose. The weights of kTiles2 have their taps
// outermost, as TransformWinogradWeights reads them.
absl::StatusOr<OnednnRecipe> DescribeConvolution(const OpView& node,
                                                 const LayoutWish& wish,
                                                 ConvolutionMethod method);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_CONVOLUTION_H_
