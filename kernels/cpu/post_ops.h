// The elementwise links of a fused chain as oneDNN post-ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_POST_OPS_H_
#define PARTITA_KERNELS_CPU_POST_OPS_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// How the links' operands relate to the primitive's result.
struct PostOpTarget {
  TensorType result;  // of the whole chain
  // The extents in the primitive's dimensions; nullopt if they do not fit.
  std::function<std::optional<Shape>(const Shape&)> extents;
  // True if a first `add` of one value per channel becomes the bias.
  std::function<bool(const Shape&)> is_bias;
  // The layout of the result, if it is already known. An operand as large as
  // the result that is not summed must have it.
  std::optional<Layout> result_layout;
  bool allow_sum = true;
  // Links may read operands as large as the result that the root or other links
  // read too; CheckReadAgain then decides.
  bool allow_read_again = false;
};

struct PostOps {
  dnnl::post_ops ops;
  std::vector<OnednnRecipe::Argument> arguments;
  std::optional<int> bias_operand;
  std::optional<int> summed_operand;
  std::vector<int> read_again;  // the node's operands; never in place
  bool ieee = true;             // see OnednnRecipe
};

// Unimplemented if an operand that is read twice has another layout than the
// result.
absl::Status CheckReadAgain(const PostOps& post, const OnednnRecipe& recipe);

// What a product with post-ops reads and writes: the node's operands a and b.
struct ProductMemory {
  int a = 0;
  int b = 1;
  dnnl::memory::desc source, weights, bias, result;  // no bias: not read
};

// Sets the arguments of the product and of its post-ops, and whether the result
// may be summed in place.
void AddArguments(const PostOps& post, const ProductMemory& memory,
                  OnednnRecipe& recipe);

// In oneDNN 2.6.3, relu, clip and hard_sigmoid turn NaN into one of their
// bounds, and silu of minus infinity is NaN. With gemm, sigmoid of NaN is 0 and
// relu of minus infinity is NaN. Only elu with alpha 0 is a relu without that
// flaw; it makes ResNet-50's convolutions 6 % slower. These five are therefore
// offered and marked. Functions that seldom follow a convolution are not
// offered if oneDNN violates IEEE 754.
//
// Unimplemented on the first link that cannot be a post-op.
absl::StatusOr<PostOps> MakePostOps(const OpView& node, const FusedChain& chain,
                                    const PostOpTarget& target);

// `extents` for results with the primitive's dimensions: leading ones.
std::optional<Shape> PaddedToRank(const Shape& dims, int rank);

// True for one value per channel of a result of `rank` dimensions.
bool IsPerChannel(const Shape& dims, int rank, int channel_dim,
                  int64_t channels);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_POST_OPS_H_
