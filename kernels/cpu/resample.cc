// onednn.resample: nearest and linear resizing if oneDNN's coordinates are the
// requested ones.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/resample.h"

#include <cmath>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {
namespace {

// oneDNN divides extents; other scales move the samples.
bool ScalesAreRatios(const OpView& node) {
  const std::vector<double>& scales = node.attr_floats("scales");
  const Shape& from = node.operand_type(0).dims;
  const Shape& to = node.result_type(0).dims;
  for (size_t i = 0; i < scales.size() && i < from.size(); ++i) {
    const double exact = static_cast<double>(from[i]) * scales[i];
    if (std::abs(exact - static_cast<double>(to[i])) > 1e-4) return false;
  }
  return true;
}

// For integer ratios oneDNN reads the element at the quotient. The op's
// attributes decide, position by position, whether it does too.
bool NearestAgrees(const OpView& node) {
  const Shape& from = node.operand_type(0).dims;
  const Shape& to = node.result_type(0).dims;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 0 || to[d] % from[d] != 0) return false;
    const AxisMap map = MapOf(node, static_cast<int>(d), from[d], to[d]);
    for (int64_t i = 0; i < to[d]; ++i) {
      if (NearestTo(node, map, i) != i / (to[d] / from[d])) return false;
    }
  }
  return true;
}

bool Accepts(const OpView& node) {
  if (!node.is(kResize) || node.num_operands() != 1 || !AllF32(node)) {
    return false;
  }
  const Shape& from = node.operand_type(0).dims;
  const Shape& to = node.result_type(0).dims;
  if (from.size() < 3 || from.size() > 5 || from[0] != to[0] ||
      from[1] != to[1] || !ScalesAreRatios(node)) {
    return false;
  }
  const std::string& mode = node.attr_string("mode");
  if (mode == "nearest") return NearestAgrees(node);
  return mode == "linear" && node.attr_string("coordinates") == "half_pixel";
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  const auto source =
      DescOf({DType::kF32, node.operand_type(0).dims, *wish.operands[0]});
  const auto result =
      DescOf({DType::kF32, node.result_type(0).dims, *wish.results[0]});
  if (!source || !result || *wish.operands[0] != *wish.results[0]) {
    return NotOffered("such layouts");
  }
  OnednnRecipe recipe;
  recipe.primitive = dnnl::resampling_forward::primitive_desc(
      dnnl::resampling_forward::desc(dnnl::prop_kind::forward_inference,
                                     node.attr_string("mode") == "nearest"
                                         ? dnnl::algorithm::resampling_nearest
                                         : dnnl::algorithm::resampling_linear,
                                     *source, *result),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such resampling");
  recipe.arguments = {{DNNL_ARG_SRC, false, 0, *source},
                      {DNNL_ARG_DST, true, 0, *result}};
  TakeLayouts(wish, recipe);
  recipe.bits_depend_on_threads = false;
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnResample = {
    .kernel = "onednn.resample",
    .accepts = Accepts,
    .wishes = ImageWishes,
    .describe = Describe,
};

}  // namespace partita
