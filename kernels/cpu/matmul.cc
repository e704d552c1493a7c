// onednn.matmul: products of matrices and of batches of matrices, with bias,
// residual and activations.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/post_ops.h"
#include "kernels/cpu/product.h"

namespace partita {
namespace {

using dnnl::memory;

bool Accepts(const OpView& node) {
  return (AllF32(node) || IsBf16Product(node)) && IsProduct(node);
}

// Weights in oneDNN's layout, and in their own.
std::vector<LayoutWish> Wishes(const OpView& node) {
  const int b = ReadChain(node)->root_operands[1];
  std::vector<LayoutWish> wishes = {RowMajorWish(node)};
  if (node.operand_type(b).rank() != 2) return wishes;
  wishes.insert(wishes.begin(), RowMajorWish(node));
  wishes[0].operands[b] = std::nullopt;
  return wishes;
}

std::optional<memory::desc> WeightsDesc(const TensorType& type,
                                        const MatrixProduct& product,
                                        const std::optional<Layout>& layout) {
  if (!layout.has_value()) return AnyDesc(product.b.dims, type.dtype);
  if (layout->is_row_major()) return product.b.Desc(type.dtype);
  if (!product.one_matrix) return std::nullopt;
  const auto desc = DescOf({type.dtype, type.dims, *layout});
  if (!desc.has_value() || !product.transpose_b) return desc;
  return desc->permute_axes({1, 0});
}

std::optional<Layout> WeightsLayout(const memory::desc& desc,
                                    const MatrixProduct& product, DType dtype) {
  if (desc == product.b.Desc(dtype)) return std::make_optional<Layout>();
  return LayoutOf(product.transpose_b ? desc.permute_axes({1, 0}) : desc);
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  const FusedChain chain = *ReadChain(node);
  const int a = chain.root_operands[0];
  const int b = chain.root_operands[1];
  if (!IsRowMajorBesideWeights(chain, wish)) {
    return NotOffered("a layout other than row-major");
  }
  const MatrixProduct product = MakeProduct(
      chain.root, node.operand_type(a).dims, node.operand_type(b).dims);
  const int rank = static_cast<int>(product.y.dims.size());
  if (rank > 6) return NotOffered("more than 6 dimensions");

  PostOpTarget target;
  target.result = node.result_type(0);
  target.result_layout = Layout{};
  target.allow_read_again = true;
  target.extents = [&](const Shape& dims) {
    return LinkExtents(dims, target.result, product);
  };
  target.is_bias = [&](const Shape& dims) {
    return IsOnePerColumn(dims, product);
  };
  PARTITA_ASSIGN_OR_RETURN(PostOps post, MakePostOps(node, chain, target));
  const auto weights =
      WeightsDesc(node.operand_type(b), product, wish.operands[b]);
  if (!weights.has_value()) return NotOffered("a layout without descriptor");
  memory::desc bias;
  if (post.bias_operand.has_value()) {
    Shape dims(rank, 1);
    dims.back() = product.y.dims.back();
    bias = RowMajorDesc(dims);
  }
  dnnl::primitive_attr attributes = StrictAttributes();
  attributes.set_post_ops(post.ops);
  const DType dtype = node.result_type(0).dtype;
  const memory::desc source = product.a.Desc(dtype);
  const memory::desc result = product.y.Desc(dtype);
  const auto desc = post.bias_operand.has_value()
                        ? dnnl::matmul::desc(source, *weights, bias, result)
                        : dnnl::matmul::desc(source, *weights, result);
  OnednnRecipe recipe;
  recipe.ieee = post.ieee;
  recipe.flushes = dtype == DType::kBF16;
  recipe.primitive =
      SoundPrimitive<dnnl::matmul>(desc, attributes, wish.skipped);
  if (!recipe.primitive) return NotOffered("no such product");
  const memory::desc packed =
      recipe.primitive.query_md(dnnl::query::weights_md);
  const std::optional<Layout> packed_layout =
      WeightsLayout(packed, product, dtype);
  if (!packed_layout.has_value()) return NotOffered("an opaque layout");
  recipe.operands.resize(node.num_operands());
  recipe.operands[b] = *packed_layout;
  recipe.results.resize(1);
  PARTITA_RETURN_IF_ERROR(CheckReadAgain(post, recipe));
  AddArguments(post, {a, b, source, packed, bias, result}, recipe);
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnMatmul = {
    .kernel = "onednn.matmul",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
    .has_alternatives = true,
};

}  // namespace partita
