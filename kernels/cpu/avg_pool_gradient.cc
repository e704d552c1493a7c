// onednn.pool_gradient: gradients of average pools.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/average_window.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/spatial_order.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) {
  if (!node.is(kAvgPoolGradient) || !AllF32(node)) return false;
  const int rank = node.operand_type(0).rank();
  return rank >= 3 && rank <= 5 && !CountsPastTheEnd(node);
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  const TensorType& dy = node.operand_type(0);
  const TensorType& dx = node.result_type(0);
  const int spatial = dy.rank() - 2;
  const SpatialOrder order(spatial, {dy.dims, dx.dims});
  if (!order.Keeps(wish.operands[0]) || !order.Keeps(wish.results[0])) {
    return NotOffered("spatial dimensions in another order");
  }
  const auto given = DescOf(order.Of({dy.dtype, dy.dims, *wish.operands[0]}));
  const auto result = DescOf(order.Of({dx.dtype, dx.dims, *wish.results[0]}));
  if (!given || !result) return NotOffered("a layout without descriptor");
  const AverageWindow w = InOrder(order, WindowOf(node, spatial));
  // The forward pool of this gradient.
  const dnnl::pooling_v2_forward::primitive_desc pool(
      dnnl::pooling_v2_forward::desc(dnnl::prop_kind::forward_training, w.kind,
                                     *result, *given, w.strides, w.kernel,
                                     w.dilates, w.before, w.after),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!pool) return NotOffered("no such pool");
  OnednnRecipe recipe;
  recipe.primitive = dnnl::pooling_v2_backward::primitive_desc(
      dnnl::pooling_v2_backward::desc(w.kind, *result, *given, w.strides,
                                      w.kernel, w.dilates, w.before, w.after),
      StrictAttributes(), CpuEngine(), pool, /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such gradient of a pool");
  recipe.arguments = {{DNNL_ARG_DIFF_DST, false, 0, *given},
                      {DNNL_ARG_DIFF_SRC, true, 0, *result}};
  TakeLayouts(wish, recipe);
  recipe.bits_depend_on_threads = false;
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnPoolGradient = {
    .kernel = "onednn.pool_gradient",
    .accepts = Accepts,
    .wishes = ImageWishes,
    .describe = Describe,
};

}  // namespace partita
