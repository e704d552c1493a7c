// onednn.matmul: products of matrices and of batches of them, with bias,
// residual and activations.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/post_ops.h"

namespace partita {
namespace {

using dnnl::memory;

// An operand as the primitive sees it: extents and strides.
struct Matrix {
  Shape dims;
  Shape strides;

  memory::desc Desc(DType dtype) const {
    return StridedDesc(dims, strides, dtype);
  }
};

Matrix RowMajor(const Shape& dims) { return {dims, RowMajorStrides(dims)}; }

// Row-major as stored; the last two exchanged if `transposed`; ones in front up
// to `rank`.
Matrix View(const Shape& stored, bool transposed, int rank) {
  const int missing = rank - static_cast<int>(stored.size());
  Shape dims(missing, 1);
  dims.insert(dims.end(), stored.begin(), stored.end());
  Matrix matrix = RowMajor(dims);
  if (transposed) {
    std::swap(matrix.dims[rank - 2], matrix.dims[rank - 1]);
    std::swap(matrix.strides[rank - 2], matrix.strides[rank - 1]);
  }
  return matrix;
}

// The product in the primitive's dimensions. Where the right side is one
// matrix, all rows of the left side are one matrix too.
struct Product {
  Matrix a, b, y;
  bool one_matrix = false;  // b may have a layout of its own
  bool transpose_b = false;
};

int64_t Rows(const Shape& dims) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows *= dims[i];
  return rows;
}

Product MakeProduct(const OpView& op, const Shape& a, const Shape& b,
                    const Shape& y) {
  const bool ta = op.attr_bool("transpose_a") && a.size() > 1;
  const bool tb = op.attr_bool("transpose_b") && b.size() > 1;
  Product product;
  product.transpose_b = tb;
  const Shape right = b.size() == 1 ? Shape{b[0], 1} : b;
  if (right.size() == 2 && (!ta || a.size() == 2)) {
    const Shape left = ta ? a : Shape{Rows(a), a.back()};
    product.one_matrix = b.size() == 2;
    product.a = View(left, ta, 2);
    product.b = View(right, tb, 2);
    product.y = RowMajor({product.a.dims[0], product.b.dims[1]});
    return product;
  }
  const Shape left = a.size() == 1 ? Shape{1, a[0]} : a;
  const int rank = static_cast<int>(std::max(left.size(), right.size()));
  product.a = View(left, ta, rank);
  product.b = View(right, tb, rank);
  Shape dims(rank, 1);
  for (int i = 0; i + 2 < rank; ++i) {
    dims[i] = std::max(product.a.dims[i], product.b.dims[i]);
  }
  dims[rank - 2] = product.a.dims[rank - 2];
  dims[rank - 1] = product.b.dims[rank - 1];
  product.y = RowMajor(dims);
  return product;
}

bool Accepts(const OpView& node) {
  if (!AllF32(node) && !IsBf16Product(node)) return false;
  if (node.num_results() != 1) return false;
  const std::optional<FusedChain> chain = ReadChain(node);
  return chain.has_value() && chain->root.is(kMatmul) &&
         chain->root.operand_type(0).rank() > 0 &&
         chain->root.operand_type(1).rank() > 0;
}

// Weights as oneDNN likes them, and as they are.
std::vector<LayoutWish> Wishes(const OpView& node) {
  const int b = ReadChain(node)->root_operands[1];
  std::vector<LayoutWish> wishes = {RowMajorWish(node)};
  if (node.operand_type(b).rank() != 2) return wishes;
  wishes.insert(wishes.begin(), RowMajorWish(node));
  wishes[0].operands[b] = std::nullopt;
  return wishes;
}

// How an operand of a link meets the result: where rows were joined, only one
// value, one per column, or one per element do.
std::optional<Shape> LinkExtents(const Shape& dims, const TensorType& result,
                                 const Product& product) {
  const int rank = static_cast<int>(product.y.dims.size());
  if (product.y.dims == result.dims) return PaddedToRank(dims, rank);
  if (dims == result.dims) return product.y.dims;
  if (dims.empty()) return Shape(rank, 1);
  const bool per_column =
      dims.back() == 1 || dims.back() == product.y.dims.back();
  if (Rows(dims) != 1 || !per_column) return std::nullopt;
  Shape extents(rank, 1);
  extents.back() = dims.back();
  return extents;
}

std::optional<memory::desc> WeightsDesc(const TensorType& type,
                                        const Product& product,
                                        const std::optional<Layout>& layout) {
  if (!layout.has_value()) return AnyDesc(product.b.dims, type.dtype);
  if (layout->is_row_major()) return product.b.Desc(type.dtype);
  if (!product.one_matrix) return std::nullopt;
  const auto desc = DescOf({type.dtype, type.dims, *layout});
  if (!desc.has_value() || !product.transpose_b) return desc;
  return desc->permute_axes({1, 0});
}

std::optional<Layout> WeightsLayout(const memory::desc& desc,
                                    const Product& product, DType dtype) {
  if (desc == product.b.Desc(dtype)) return std::make_optional<Layout>();
  return LayoutOf(product.transpose_b ? desc.permute_axes({1, 0}) : desc);
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  const FusedChain chain = *ReadChain(node);
  const int a = chain.root_operands[0];
  const int b = chain.root_operands[1];
  for (int i = 0; i < node.num_operands(); ++i) {
    const bool plain =
        wish.operands[i].has_value() && wish.operands[i]->is_row_major();
    if (i != b && !plain) return NotOffered("a layout other than row-major");
  }
  if (!wish.results[0].has_value() || !wish.results[0]->is_row_major()) {
    return NotOffered("a result that is not row-major");
  }
  const Product product =
      MakeProduct(chain.root, node.operand_type(a).dims,
                  node.operand_type(b).dims, chain.root.result_type(0).dims);
  const int rank = static_cast<int>(product.y.dims.size());
  if (rank > 6) return NotOffered("so many dimensions");

  PostOpTarget target;
  target.result = node.result_type(0);
  target.result_layout = Layout{};
  target.allow_read_again = true;
  target.extents = [&](const Shape& dims) {
    return LinkExtents(dims, target.result, product);
  };
  target.is_bias = [&](const Shape& dims) {
    return !dims.empty() && Rows(dims) == 1 &&
           dims.back() == product.y.dims.back();
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
      WithoutFirst(dnnl::matmul::primitive_desc(desc, attributes, CpuEngine(),
                                                /*allow_empty=*/true),
                   wish.skipped);
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
  recipe.arguments = std::move(post.arguments);
  recipe.arguments.push_back({DNNL_ARG_SRC, false, a, source});
  recipe.arguments.push_back({DNNL_ARG_WEIGHTS, false, b, packed});
  if (post.bias_operand.has_value()) {
    recipe.arguments.push_back(
        {DNNL_ARG_BIAS, false, *post.bias_operand, bias});
  }
  recipe.arguments.push_back({DNNL_ARG_DST, true, 0, result});
  recipe.summed_operand = post.summed_operand;
  if (post.summed_operand.has_value()) {
    recipe.in_place.push_back({*post.summed_operand, 0});
  }
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
