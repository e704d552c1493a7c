// onednn.norm: batch normalisation with given statistics, and layer
// normalisation.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {
namespace {

using dnnl::normalization_flags;

bool Accepts(const OpView& node) {
  if (!node.is(kLayerNorm) && !node.is(kBatchNorm)) return false;
  if (!AllF32(node)) return false;
  const int rank = node.operand_type(0).rank();
  if (node.is(kLayerNorm)) return rank > 0 && node.attr_bool("center");
  return rank >= 2 && rank <= 5;
}

std::vector<LayoutWish> Wishes(const OpView& node) {
  if (node.is(kLayerNorm)) return {RowMajorWish(node)};
  return ImageWishes(node);
}

absl::StatusOr<OnednnRecipe> DescribeBatchNorm(const OpView& node,
                                               const LayoutWish& wish) {
  const TensorType& x = node.operand_type(0);
  if (*wish.operands[0] != *wish.results[0]) return NotOffered("two layouts");
  const auto desc = DescOf({x.dtype, x.dims, *wish.operands[0]});
  if (!desc.has_value()) return NotOffered("a layout without descriptor");
  const dnnl::memory::desc channels = RowMajorDesc({x.dims[1]});
  OnednnRecipe recipe;
  recipe.primitive = dnnl::batch_normalization_forward::primitive_desc(
      dnnl::batch_normalization_forward::desc(
          dnnl::prop_kind::forward_inference, *desc,
          static_cast<float>(node.attr_float("epsilon")),
          normalization_flags::use_global_stats |
              normalization_flags::use_scale | normalization_flags::use_shift),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such normalisation");
  recipe.arguments = {{DNNL_ARG_SRC, false, 0, *desc},
                      {DNNL_ARG_SCALE, false, 1, channels},
                      {DNNL_ARG_SHIFT, false, 2, channels},
                      {DNNL_ARG_MEAN, false, 3, channels},
                      {DNNL_ARG_VARIANCE, false, 4, channels},
                      {DNNL_ARG_DST, true, 0, *desc}};
  TakeLayouts(wish, recipe);
  recipe.in_place = {{0, 0}};
  return recipe;
}

// All dimensions from the axis on become one.
absl::StatusOr<OnednnRecipe> DescribeLayerNorm(const OpView& node,
                                               const LayoutWish& wish) {
  if (!IsRowMajor(wish)) return NotOffered("a layout other than row-major");
  const Shape& dims = node.operand_type(0).dims;
  int64_t axis = node.attr_int("axis");
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  Shape view = {1, 1};
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    view[i >= axis] *= dims[i];
  }
  for (int i = 1; i < node.num_operands(); ++i) {
    if (node.operand_type(i).num_elements() != view[1]) {
      return NotOffered("a broadcast scale");
    }
  }
  const bool shifted = node.num_operands() > 2;
  const dnnl::memory::desc desc = RowMajorDesc(view);
  const dnnl::memory::desc line = RowMajorDesc({view[1]});
  auto flags = normalization_flags::use_scale;
  if (shifted) flags = flags | normalization_flags::use_shift;
  OnednnRecipe recipe;
  recipe.primitive = dnnl::layer_normalization_forward::primitive_desc(
      dnnl::layer_normalization_forward::desc(
          dnnl::prop_kind::forward_inference, desc,
          static_cast<float>(node.attr_float("epsilon")), flags),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such normalisation");
  recipe.arguments = {{DNNL_ARG_SRC, false, 0, desc},
                      {DNNL_ARG_SCALE, false, 1, line},
                      {DNNL_ARG_DST, true, 0, desc}};
  if (shifted) {
    recipe.arguments.push_back({DNNL_ARG_SHIFT, false, 2, line});
  }
  TakeLayouts(wish, recipe);
  recipe.in_place = {{0, 0}};
  return recipe;
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  for (size_t i = 1; i < wish.operands.size(); ++i) {
    if (!wish.operands[i]->is_row_major()) return NotOffered("such a layout");
  }
  return node.is(kLayerNorm) ? DescribeLayerNorm(node, wish)
                             : DescribeBatchNorm(node, wish);
}

}  // namespace

extern const OnednnFamily kOnednnNorm = {
    .kernel = "onednn.norm",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
};

}  // namespace partita
