// Describes convolutions, 1-D, 2-D and 3-D, grouped too, and their transposes.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/convolution.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/cpu/convolution_parts.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/post_ops.h"
#include "kernels/cpu/spatial_order.h"

namespace partita {

using dnnl::memory;

bool IsConvolution(const OpView& node, const OpDef& op) {
  if (!AllF32(node) && !IsBf16Product(node)) return false;
  if (node.num_results() != 1) return false;
  const std::optional<FusedChain> chain = ReadChain(node);
  if (!chain.has_value() || !chain->root.is(op)) return false;
  const int rank = chain->root.operand_type(0).rank();
  if (rank < 3 || rank > 5) return false;
  for (const char* pads : {"pads_before", "pads_after"}) {
    for (int64_t pad : chain->root.attr_ints(pads)) {
      if (pad < 0) return false;
    }
  }
  return true;
}

namespace {

// The layout of weights from which the transform makes those of `packed`: 4x4
// taps outermost, then as in `packed`. Nullopt if `packed` is not of F(2x2,
// 3x3), in which oneDNN keeps blocks of oc2_block output channels together, or
// has padding.
std::optional<Layout> WinogradLayout(const memory::desc& packed,
                                     const TensorType& type) {
  if (packed.data.format_kind != dnnl_format_kind_wino) return std::nullopt;
  const dnnl_wino_desc_t& wino = packed.data.format_desc.wino_desc;
  const bool is_chunked = wino.wino_format == dnnl_wino_wei_aaOBiOo;
  if (!is_chunked && wino.wino_format != dnnl_wino_wei_aaOio) {
    return std::nullopt;
  }
  if (wino.alpha != 4 || wino.r != 3 || wino.adj_scale != 1 ||
      wino.oc != type.dims[0] || wino.ic != type.dims[1]) {
    return std::nullopt;
  }
  const int block = wino.oc_block * (is_chunked ? wino.oc2_block : 1);
  const absl::StatusOr<Layout> layout =
      ParseLayout(absl::StrCat("cdab", block, "a"), type.rank());
  if (!layout.ok() || type.dims[0] % block != 0) return std::nullopt;
  return *layout;
}

int TileOf(ConvolutionMethod method) {
  return method == ConvolutionMethod::kTiles2   ? 2
         : method == ConvolutionMethod::kTiles4 ? 4
                                                : 0;
}

// oneDNN transforms the weights of 4x4 tiles itself only in training.
dnnl::prop_kind PropKind(ConvolutionMethod method) {
  return method == ConvolutionMethod::kTiles4
             ? dnnl::prop_kind::forward_training
             : dnnl::prop_kind::forward_inference;
}

dnnl::primitive_desc Primitive(
    bool transposed, ConvolutionMethod method, const memory::desc& source,
    const memory::desc& weights, const memory::desc& bias,
    const memory::desc& result, const ConvolutionWindow& w,
    const dnnl::primitive_attr& attributes, int skipped) {
  const dnnl::prop_kind kind = PropKind(method);
  if (transposed) {
    return SoundPrimitive<dnnl::deconvolution_forward>(
        {kind, dnnl::algorithm::deconvolution_direct, source, weights, bias,
         result, w.strides, w.dilates, w.before, w.after},
        attributes, skipped);
  }
  const auto algorithm = TileOf(method) == 0
                             ? dnnl::algorithm::convolution_direct
                             : dnnl::algorithm::convolution_winograd;
  return SoundPrimitive<dnnl::convolution_forward>(
      {kind, algorithm, source, weights, bias, result, w.strides, w.dilates,
       w.before, w.after},
      attributes, skipped);
}

// With channels last, oneDNN 2.6.3 uses gemm if it has nothing else. It then
// treats every operand of a post-op as one value per channel; for volumes,
// where it goes plane by plane, it reads other channels' values.
bool ReadsPostOpsRight(const OpView& node, const PostOps& post,
                       const OnednnRecipe& recipe) {
  if (!absl::StrContains(ImplementationName(recipe.primitive), "gemm") ||
      !IsChannelsLast(recipe.primitive.query_md(dnnl::query::src_md)) ||
      !IsChannelsLast(recipe.primitive.query_md(dnnl::query::dst_md))) {
    return true;
  }
  const Shape& dims = node.result_type(0).dims;
  const int rank = static_cast<int>(dims.size());
  for (const OnednnRecipe::Argument& argument : post.arguments) {
    const TensorType& type = node.operand_type(argument.index);
    if (type.num_elements() == 1) continue;
    if (rank > 4 || !IsPerChannel(type.dims, rank, 1, dims[1])) return false;
  }
  return true;
}

// Row-major for everything except source, weights and result: bias and
// broadcast operands. A summed operand has the result's layout.
void FillLayouts(const OpView& node, const PostOps& post,
                 OnednnRecipe& recipe) {
  recipe.operands.resize(node.num_operands());
  if (post.summed_operand.has_value()) {
    recipe.operands[*post.summed_operand] = recipe.results[0];
  }
  for (const OnednnRecipe::Argument& argument : post.arguments) {
    if (node.operand_type(argument.index).dims == node.result_type(0).dims) {
      recipe.operands[argument.index] = recipe.results[0];
    }
  }
}

// Extents of 1 come first unless a requested layout forbids it.
SpatialOrder OrderOf(const OpView& node, const FusedChain& chain,
                     const LayoutWish& wish) {
  const int x = chain.root_operands[0];
  const int w = chain.root_operands[1];
  const int spatial = node.result_type(0).rank() - 2;
  const SpatialOrder order(
      spatial, {node.operand_type(x).dims, node.operand_type(w).dims,
                node.result_type(0).dims});
  const bool keeps = order.Keeps(wish.operands[x]) &&
                     order.Keeps(wish.operands[w]) &&
                     order.Keeps(wish.results[0]);
  return keeps ? order : SpatialOrder(spatial, {});
}

}  // namespace

// Asks oneDNN for a primitive in the wished layouts, then reads back the
// layouts that it chose. Offers nothing if no Layout can describe these, or if
// oneDNN 2.6.3 would be wrong or slow.
absl::StatusOr<OnednnRecipe> DescribeConvolution(const OpView& node,
                                                 const LayoutWish& wish,
                                                 ConvolutionMethod method) {
  const bool winograd = method == ConvolutionMethod::kTiles2;
  const FusedChain chain = *ReadChain(node);
  const OpView& op = chain.root;
  const bool transposed = op.is(kConvTranspose);
  const int rank = node.result_type(0).rank();
  const SpatialOrder order = OrderOf(node, chain, wish);
  const TensorType x = order.Of(node.operand_type(chain.root_operands[0]));
  const TensorType w = order.Of(node.operand_type(chain.root_operands[1]));
  const TensorType y = order.Of(node.result_type(0));
  const ConvolutionWeights weights(w, op.attr_int("groups"), transposed);
  const bool has_bias = chain.root_operands.size() > 2;

  PostOpTarget target;
  target.result = node.result_type(0);
  target.extents = [&](const Shape& dims) -> std::optional<Shape> {
    std::optional<Shape> padded = PaddedToRank(dims, rank);
    if (padded.has_value()) padded = order.Of(*std::move(padded));
    return padded;
  };
  if (!has_bias) {
    target.is_bias = [&](const Shape& dims) {
      return IsPerChannel(dims, rank, 1, y.dims[1]);
    };
  }
  target.result_layout = wish.results[0];
  target.allow_read_again = true;
  PARTITA_ASSIGN_OR_RETURN(PostOps post, MakePostOps(node, chain, target));
  // oneDNN 2.6.3 computes them after the whole convolution, one element at a
  // time in a second buffer of the result's size.
  if (transposed && post.ops.len() > 0) {
    return NotOffered("a transposed convolution with post-ops");
  }
  if (has_bias) post.bias_operand = chain.root_operands[2];

  ConvolutionWindow window = WindowOf(op, rank - 2, order);
  TensorType read = x;  // read by the primitive
  const int64_t before = window.before.back();
  // The primitive gets an image that is padded in advance along its last
  // dimension.
  if (method == ConvolutionMethod::kPadded) {
    read.dims.back() += before + window.after.back();
    window.before.back() = window.after.back() = 0;
  }
  const auto source_desc =
      WishedDesc(read, wish.operands[chain.root_operands[0]]);
  const auto weights_desc = weights.Desc(
      winograd ? std::nullopt : wish.operands[chain.root_operands[1]]);
  const auto result_desc = WishedDesc(y, wish.results[0]);
  if (!source_desc || !weights_desc || !result_desc) {
    return NotOffered("a layout without descriptor");
  }
  const memory::desc bias_desc = post.bias_operand.has_value()
                                     ? RowMajorDesc({y.dims[1]})
                                     : memory::desc();
  dnnl::primitive_attr attributes = StrictAttributes();
  attributes.set_post_ops(post.ops);

  OnednnRecipe recipe;
  recipe.primitive =
      Primitive(transposed, method, *source_desc, *weights_desc, bias_desc,
                *result_desc, window, attributes, wish.skipped);
  if (!recipe.primitive) return NotOffered("no such convolution");
  const memory::desc source = recipe.primitive.query_md(dnnl::query::src_md);
  const memory::desc packed =
      recipe.primitive.query_md(dnnl::query::weights_md);
  const memory::desc result = recipe.primitive.query_md(dnnl::query::dst_md);
  const std::optional<Layout> source_layout = LayoutOf(source);
  const std::optional<Layout> weights_layout =
      winograd ? WinogradLayout(packed, w) : weights.LayoutFrom(packed);
  const std::optional<Layout> result_layout = LayoutOf(result);
  if (!source_layout || !weights_layout || !result_layout) {
    return NotOffered("an opaque layout");
  }
  if (!order.Keeps(source_layout) || !order.Keeps(weights_layout) ||
      !order.Keeps(result_layout)) {
    return NotOffered("spatial dimensions in another order");
  }
  TensorType stored = y;
  stored.layout = *result_layout;
  // Below AVX-512, in transposed convolutions and in tiles, oneDNN multiplies
  // padded channels by zero weights, which keeps a NaN.
  if ((transposed || VectorChannels() < 16 || TileOf(method) > 0) &&
      stored.num_stored_elements() != y.num_elements()) {
    return NotOffered("padding that a NaN would not leave zero");
  }
  recipe.results = {*result_layout};
  if (!ReadsPostOpsRight(node, post, recipe)) {
    return NotOffered("a post-op that gemm would read wrongly");
  }
  recipe.ieee = post.ieee;
  recipe.flushes = y.dtype == DType::kBF16;
  recipe.tile = TileOf(method);
  if (winograd) {
    recipe.winograd = {.operand = chain.root_operands[1],
                       .pairs = w.dims[0] * w.dims[1]};
  }
  if (method == ConvolutionMethod::kPadded) {
    recipe.padded = {.operand = chain.root_operands[0],
                     .image = *DescOf({x.dtype, x.dims, *source_layout}),
                     .whole = source,
                     .before = before};
  }
  FillLayouts(node, post, recipe);
  recipe.operands[chain.root_operands[0]] = *source_layout;
  recipe.operands[chain.root_operands[1]] = *weights_layout;
  PARTITA_RETURN_IF_ERROR(CheckReadAgain(post, recipe));
  AddArguments(post,
               {chain.root_operands[0], chain.root_operands[1], source, packed,
                bias_desc, result},
               recipe);
  return recipe;
}

std::vector<LayoutWish> ConvolutionWishes(const OpView& node) {
  const FusedChain chain = *ReadChain(node);
  std::vector<LayoutWish> wishes = {AnyWish(node)};
  for (LayoutWish wish : ImageWishes(node)) {
    for (size_t i = 0; i < wish.operands.size(); ++i) {
      if (static_cast<int>(i) != chain.root_operands[0]) {
        wish.operands[i] = std::nullopt;
      }
    }
    wishes.push_back(std::move(wish));
  }
  // A first layer reads few channels row-major and writes blocks.
  LayoutWish first = wishes.back();
  first.operands[chain.root_operands[0]] = Layout();
  wishes.push_back(std::move(first));
  wishes.push_back(RowMajorWish(node));
  return wishes;
}

}  // namespace partita
