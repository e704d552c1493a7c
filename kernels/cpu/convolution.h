// What convolutions and their transposes share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_CONVOLUTION_H_
#define PARTITA_KERNELS_CPU_CONVOLUTION_H_

#include <vector>

#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// True if the node is `op`, or a fused chain behind it, as oneDNN can do it.
bool IsConvolution(const OpView& node, const OpDef& op);

// Images in the layouts that networks use, weights as oneDNN likes them; and
// everything row-major.
std::vector<LayoutWish> ConvolutionWishes(const OpView& node);

// The gradient by the weights, which the recipe has as oneDNN likes them;
// Unimplemented if that is asked for and has padding.
absl::StatusOr<OnednnRecipe> DescribeWeightGradient(const OpView& node,
                                                    const LayoutWish& wish);

// By convolution_direct, convolution_winograd or deconvolution_direct.
// Winograd's weights lie with taps outermost, as TransformWinogradWeights reads
// them.
absl::StatusOr<OnednnRecipe> DescribeConvolution(const OpView& node,
                                                 const LayoutWish& wish,
                                                 dnnl::algorithm algorithm);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_CONVOLUTION_H_
