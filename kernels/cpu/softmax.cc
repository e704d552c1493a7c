// onednn.softmax: softmax and log-softmax.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) {
  return (node.is(kSoftmax) || node.is(kLogSoftmax)) && AllF32(node) &&
         node.operand_type(0).rank() > 0;
}

std::vector<LayoutWish> Wishes(const OpView& node) {
  return {RowMajorWish(node)};
}

// What lies before and after the axis is one dimension each.
absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  if (!IsRowMajor(wish)) return NotOffered("a layout other than row-major");
  const Shape& dims = node.operand_type(0).dims;
  int64_t axis = node.attr_int("axis");
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  Shape view = {1, dims[axis], 1};
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    if (i != axis) view[i < axis ? 0 : 2] *= dims[i];
  }
  if (view[2] == 1) view.pop_back();
  const dnnl::memory::desc desc = RowMajorDesc(view);
  OnednnRecipe recipe;
  recipe.primitive = dnnl::softmax_v2_forward::primitive_desc(
      dnnl::softmax_v2_forward::desc(dnnl::prop_kind::forward_inference,
                                     node.is(kSoftmax)
                                         ? dnnl::algorithm::softmax_accurate
                                         : dnnl::algorithm::softmax_log,
                                     desc, desc, 1),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such softmax");
  recipe.arguments = {{DNNL_ARG_SRC, false, 0, desc},
                      {DNNL_ARG_DST, true, 0, desc}};
  TakeLayouts(wish, recipe);
  recipe.in_place = {{0, 0}};
  recipe.bits_depend_on_threads = false;
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnSoftmax = {
    .kernel = "onednn.softmax",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
};

}  // namespace partita
