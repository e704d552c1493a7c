// onednn.conv_weight_gradient: oneDNN's convolution backward by weights.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/round_up.h"
#include "kernels/cpu/convolution_parts.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/spatial_order.h"

namespace partita {
namespace {

using dnnl::memory;

bool Accepts(const OpView& node) {
  if (!node.is(kConvWeightGradient)) return false;
  if (!AllF32(node) && !IsBf16Product(node)) return false;
  const int rank = node.operand_type(0).rank();
  return rank >= 3 && rank <= 5;
}

// All in the layouts that oneDNN prefers. Or weights row-major for the
// optimizer, and images as oneDNN prefers them, or with channels last, which is
// fastest for few channels, or in whole blocks for any number of channels.
std::vector<LayoutWish> Wishes(const OpView& node) {
  std::vector<LayoutWish> wishes = {AnyWish(node), AnyWish(node)};
  for (LayoutWish& images : ImageWishes(node)) {
    wishes.push_back(std::move(images));
  }
  for (size_t i = 1; i < wishes.size(); ++i) wishes[i].results[0] = Layout();
  return wishes;
}

// oneDNN needs the forward convolution of the gradient, also when it looks for
// the next implementation.
dnnl::primitive_desc WeightGradientPrimitive(const memory::desc& source,
                                             const memory::desc& weights,
                                             const memory::desc& result,
                                             const ConvolutionWindow& w) {
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  const dnnl::primitive_attr attributes = StrictAttributes();
  const dnnl::convolution_forward::primitive_desc forward(
      dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training,
                                      kAlgorithm, source, weights, result,
                                      w.strides, w.dilates, w.before, w.after),
      attributes, CpuEngine(), /*allow_empty=*/true);
  if (!forward) return {};
  return SoundPrimitive<dnnl::convolution_backward_weights>(
      {kAlgorithm, source, weights, result, w.strides, w.dilates, w.before,
       w.after},
      attributes, /*skipped=*/0, forward);
}

// The type with all channels that its blocks have room for. Channels that only
// fill a block are zeros. With them oneDNN sees an operand of whole blocks,
// which its fastest gradients require.
TensorType InWholeBlocks(TensorType type, const std::optional<Layout>& layout) {
  if (!layout.has_value() || layout->blocks.size() != 1) return type;
  const Layout::Block& block = layout->blocks[0];
  int64_t& extent = type.dims[block.dim];
  extent = RoundUp(extent, block.size);
  return type;
}

bool HasPadding(const TensorType& type, const Layout& layout) {
  const TensorType stored = {type.dtype, type.dims, layout};
  return stored.num_stored_elements() != type.num_elements();
}

// Extents of 1 come first unless a requested layout forbids it.
SpatialOrder OrderOf(const OpView& node, const LayoutWish& wish) {
  const int spatial = node.result_type(0).rank() - 2;
  const SpatialOrder order(
      spatial, {node.operand_type(0).dims, node.operand_type(1).dims,
                node.result_type(0).dims});
  const bool keeps = order.Keeps(wish.operands[0]) &&
                     order.Keeps(wish.operands[1]) &&
                     order.Keeps(wish.results[0]);
  return keeps ? order : SpatialOrder(spatial, {});
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  const SpatialOrder order = OrderOf(node, wish);
  TensorType x = order.Of(node.operand_type(0));
  TensorType dy = order.Of(node.operand_type(1));
  const TensorType dw = order.Of(node.result_type(0));
  TensorType computed = dw;
  const int64_t groups = node.attr_int("groups");
  if (groups == 1) {
    x = InWholeBlocks(std::move(x), wish.operands[0]);
    dy = InWholeBlocks(std::move(dy), wish.operands[1]);
    computed.dims[0] = dy.dims[1];
    computed.dims[1] = x.dims[1];
  }
  const ConvolutionWeights weights(computed, groups, /*transposed=*/false);
  const auto source = WishedDesc(x, wish.operands[0]);
  const auto result = WishedDesc(dy, wish.operands[1]);
  if (!source || !result) return NotOffered("a layout without descriptor");
  OnednnRecipe recipe;
  // The gradient is in oneDNN's layout: it is small compared with the operands,
  // so its reorder is cheap.
  recipe.primitive =
      WeightGradientPrimitive(*source, *weights.Desc(std::nullopt), *result,
                              WindowOf(node, x.rank() - 2, order));
  if (!recipe.primitive) return NotOffered("no such gradient");
  const memory::desc source_desc =
      recipe.primitive.query_md(dnnl::query::src_md);
  const memory::desc result_desc =
      recipe.primitive.query_md(dnnl::query::diff_dst_md);
  const memory::desc gradient_desc =
      recipe.primitive.query_md(dnnl::query::diff_weights_md);
  const std::optional<Layout> source_layout = LayoutOf(source_desc);
  const std::optional<Layout> result_layout = LayoutOf(result_desc);
  const std::optional<Layout> gradient_layout =
      weights.LayoutFrom(gradient_desc);
  if (!source_layout || !result_layout || !gradient_layout) {
    return NotOffered("an opaque layout");
  }
  if (!order.Keeps(source_layout) || !order.Keeps(result_layout) ||
      !order.Keeps(gradient_layout)) {
    return NotOffered("spatial dimensions in another order");
  }
  if (HasPadding(dw, wish.results[0].value_or(*gradient_layout))) {
    return NotOffered("padding that a NaN would not leave zero");
  }
  recipe.flushes = dw.dtype == DType::kBF16;
  recipe.operands = {*source_layout, *result_layout};
  recipe.results = {*gradient_layout};
  recipe.arguments = {{DNNL_ARG_SRC, false, 0, source_desc},
                      {DNNL_ARG_DIFF_DST, false, 1, result_desc},
                      {DNNL_ARG_DIFF_WEIGHTS, true, 0, gradient_desc}};
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnConvWeightGradient = {
    .kernel = "onednn.conv_weight_gradient",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
    .relays_results = true,
};

}  // namespace partita
