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

// How the links' operands meet the primitive's result.
struct PostOpTarget {
  TensorType result;  // of the whole chain
  // Extents in the primitive's dimensions, or none if they do not fit there.
  std::function<std::optional<Shape>(const Shape&)> extents;
  // Where a first `add` of one value per channel goes instead.
  std::function<bool(const Shape&)> is_bias;
  // The layout of the result where it is already known; an operand as large as
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
  std::vector<int> read_again;  // operands of the node; never in place
  bool ieee = true;             // see OnednnRecipe
};

// Unimplemented if an operand that is read twice lies otherwise than the
// result.
absl::Status CheckReadAgain(const PostOps& post, const OnednnRecipe& recipe);

// What a product with post-ops reads and writes: the node's operands a and b.
struct ProductMemory {
  int a = 0;
  int b = 1;
  dnnl::memory::desc source, weights, bias, result;  // no bias: not read
};

// Names the memory of the product and of its post-ops, and where the result may
// be summed in place.
void AddArguments(const PostOps& post, const ProductMemory& memory,
                  OnednnRecipe& recipe);

// oneDNN 2.6.3 makes a NaN one of the bounds of relu, clip and hard_sigmoid,
// and silu of minus infinity a NaN; where it multiplies by gemm, sigmoid of a
// NaN is 0 and relu of minus infinity a NaN. Of its functions only elu with
// alpha 0 is a relu without that flaw, and costs 6 % of ResNet-50's
// convolutions. So those five are offered and marked; functions that are seldom
// behind a convolution are not offered where oneDNN strays from IEEE 754.
//
// Fails with Unimplemented on the first link that cannot be a post-op.
absl::StatusOr<PostOps> MakePostOps(const OpView& node, const FusedChain& chain,
                                    const PostOpTarget& target);

// `extents` for results whose dimensions are the primitive's: ones in front.
std::optional<Shape> PaddedToRank(const Shape& dims, int rank);

// One value per channel of a result of `rank` dimensions.
bool IsPerChannel(const Shape& dims, int rank, int channel_dim,
                  int64_t channels);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_POST_OPS_H_
