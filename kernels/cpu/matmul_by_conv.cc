// onednn.matmul_by_conv: a product with one matrix as a 1x1 convolution over a
// row of positions, channels last. Below AVX-512, oneDNN 2.6.3 has only gemm
// for products. It packs the right side at every launch, which halves the speed
// or worse if rows are 2^n apart. A convolution's weights are packed in
// advance.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/match.h"
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

// True if all rows of the left side are multiplied by one matrix.
bool IsOneProduct(const MatrixProduct& product) {
  return product.one_matrix && product.a.strides.back() == 1;
}

MatrixProduct ProductOf(const OpView& node, const FusedChain& chain) {
  return MakeProduct(chain.root, node.operand_type(chain.root_operands[0]).dims,
                     node.operand_type(chain.root_operands[1]).dims);
}

bool Accepts(const OpView& node) {
  return AllF32(node) && IsProduct(node) &&
         IsOneProduct(ProductOf(node, *ReadChain(node)));
}

std::vector<LayoutWish> Wishes(const OpView& node) {
  LayoutWish wish = RowMajorWish(node);
  wish.operands[ReadChain(node)->root_operands[1]] = std::nullopt;
  return {std::move(wish)};
}

// Rows as positions, columns as channels.
Shape ImageOf(const Shape& rows_and_columns) {
  return {1, rows_and_columns[1], 1, rows_and_columns[0]};
}

memory::desc ImageDesc(const Matrix& matrix) {
  const int64_t all = matrix.dims[0] * matrix.dims[1];
  return StridedDesc(ImageOf(matrix.dims), {all, 1, all, matrix.dims[1]},
                     DType::kF32);
}

// The right side as weights: columns of the result, then the dimension of the
// sum.
std::optional<memory::desc> WeightsDesc(const TensorType& type,
                                        const MatrixProduct& product,
                                        const std::optional<Layout>& layout) {
  const Shape weights = {product.b.dims[1], product.b.dims[0], 1, 1};
  if (!layout.has_value()) return AnyDesc(weights, DType::kF32);
  std::optional<memory::desc> desc = DescOf({type.dtype, type.dims, *layout});
  if (!desc.has_value()) return std::nullopt;
  if (!product.transpose_b) desc = desc->permute_axes({1, 0});
  return desc->reshape({weights.begin(), weights.end()});
}

std::optional<Layout> WeightsLayout(const memory::desc& weights,
                                    const MatrixProduct& product) {
  const memory::desc matrix =
      weights.reshape({product.b.dims[1], product.b.dims[0]});
  return LayoutOf(product.transpose_b ? matrix : matrix.permute_axes({1, 0}));
}

// Operands as large as the result are summed or refused: as images they have
// channels last.
absl::StatusOr<PostOps> PostOpsOf(const OpView& node, const FusedChain& chain,
                                  const MatrixProduct& product) {
  PostOpTarget target;
  target.result = node.result_type(0);
  target.extents = [&](const Shape& dims) -> std::optional<Shape> {
    const auto extents = LinkExtents(dims, node.result_type(0), product);
    if (!extents.has_value()) return std::nullopt;
    return ImageOf(*extents);
  };
  target.is_bias = [&](const Shape& dims) {
    return IsOnePerColumn(dims, product);
  };
  return MakePostOps(node, chain, target);
}

dnnl::primitive_desc Primitive(const memory::desc& source,
                               const memory::desc& weights,
                               const memory::desc& bias,
                               const memory::desc& result,
                               const dnnl::post_ops& post_ops) {
  dnnl::primitive_attr attributes = StrictAttributes();
  attributes.set_post_ops(post_ops);
  const memory::dims ones = {1, 1}, zeros = {0, 0};
  return SoundPrimitive<dnnl::convolution_forward>(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
       source, weights, bias, result, ones, zeros, zeros, zeros},
      attributes, /*skipped=*/0);
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  const FusedChain chain = *ReadChain(node);
  const int a = chain.root_operands[0];
  const int b = chain.root_operands[1];
  if (!IsRowMajorBesideWeights(chain, wish)) {
    return NotOffered("a layout other than row-major");
  }
  const MatrixProduct product = ProductOf(node, chain);
  PARTITA_ASSIGN_OR_RETURN(PostOps post, PostOpsOf(node, chain, product));
  const auto given =
      WeightsDesc(node.operand_type(b), product, wish.operands[b]);
  if (!given.has_value()) return NotOffered("a layout without descriptor");
  const memory::desc source = ImageDesc(product.a);
  const memory::desc result = ImageDesc(product.y);
  const memory::desc bias = post.bias_operand.has_value()
                                ? RowMajorDesc({product.y.dims[1]})
                                : memory::desc();
  OnednnRecipe recipe;
  recipe.primitive = Primitive(source, *given, bias, result, post.ops);
  if (!recipe.primitive) return NotOffered("no such convolution");
  // See ReadsPostOpsRight in convolution.cc.
  if (!post.arguments.empty() &&
      absl::StrContains(ImplementationName(recipe.primitive), "gemm")) {
    return NotOffered("a post-op that gemm would read wrongly");
  }
  const memory::desc weights =
      recipe.primitive.query_md(dnnl::query::weights_md);
  const std::optional<Layout> layout = WeightsLayout(weights, product);
  if (!layout.has_value()) return NotOffered("an opaque layout");
  recipe.ieee = post.ieee;
  recipe.operands.resize(node.num_operands());
  recipe.operands[b] = *layout;
  recipe.results.resize(1);
  AddArguments(post, {a, b, source, weights, bias, result}, recipe);
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnMatmulByConv = {
    .kernel = "onednn.matmul_by_conv",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
};

}  // namespace partita
