// onednn.eltwise: elementwise functions of one operand, in any layout.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/post_ops.h"

namespace partita {
namespace {

bool KeepsZero(const OpView& node) {
  return node.op().scalar != nullptr && node.op().scalar->keeps_zero;
}

bool Accepts(const OpView& node) {
  return node.num_operands() == 1 && node.op().traits.elementwise &&
         AllF32(node) && EltwiseSteps(node).size() == 1;
}

// The order of the elements does not matter: one dimension, padding included
// where the function keeps it zero.
absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  if (*wish.operands[0] != *wish.results[0]) {
    return NotOffered("two layouts");
  }
  TensorType type = node.operand_type(0);
  type.layout = *wish.operands[0];
  const int64_t elements = type.num_stored_elements();
  if (elements != type.num_elements() && !KeepsZero(node)) {
    return NotOffered("padding that would not stay zero");
  }
  const dnnl::memory::desc desc = RowMajorDesc({elements});
  const EltwiseStep step = EltwiseSteps(node)[0];
  OnednnRecipe recipe;
  recipe.primitive = dnnl::eltwise_forward::primitive_desc(
      dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_inference,
                                  step.algorithm, desc, step.alpha, step.beta),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such function");
  recipe.arguments = {{DNNL_ARG_SRC, false, 0, desc},
                      {DNNL_ARG_DST, true, 0, desc}};
  TakeLayouts(wish, recipe);
  recipe.in_place = {{0, 0}};
  recipe.bits_depend_on_threads = false;
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnEltwise = {
    .kernel = "onednn.eltwise",
    .accepts = Accepts,
    .wishes = ImageWishes,
    .describe = Describe,
};

}  // namespace partita
