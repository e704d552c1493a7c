// onednn.pool: average pools, and means over whole images, which are pools with
// one window. Max pools are cpu.max_pool's: oneDNN's lose NaN and minus
// infinity.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/average_window.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/spatial_order.h"

namespace partita {
namespace {

using dnnl::algorithm;
using dnnl::memory;

// A reduction over all spatial dimensions.
bool IsGlobal(const OpView& node) {
  if (!node.is(kReduceMean)) return false;
  std::vector<int64_t> axes = node.attr_ints("axes");
  std::sort(axes.begin(), axes.end());
  const int rank = node.operand_type(0).rank();
  if (static_cast<int>(axes.size()) != rank - 2) return false;
  for (int i = 2; i < rank; ++i) {
    if (axes[i - 2] != i) return false;
  }
  return true;
}

bool Accepts(const OpView& node) {
  if (node.num_operands() != 1 || !AllF32(node)) return false;
  const int rank = node.operand_type(0).rank();
  if (rank < 3 || rank > 5) return false;
  if (IsGlobal(node)) return true;
  return node.is(kAvgPool) && !CountsPastTheEnd(node);
}

AverageWindow WindowOf(const OpView& node) {
  const Shape& dims = node.operand_type(0).dims;
  const size_t spatial = dims.size() - 2;
  if (!IsGlobal(node)) return WindowOf(node, spatial);
  return {algorithm::pooling_avg_exclude_padding,
          memory::dims(dims.begin() + 2, dims.end()),
          memory::dims(spatial, 1),
          memory::dims(spatial, 0),
          memory::dims(spatial, 0),
          memory::dims(spatial, 0)};
}

// The mean over an image is one value per channel: row-major if the image's
// layout keeps the channels in order too.
std::vector<LayoutWish> Wishes(const OpView& node) {
  std::vector<LayoutWish> wishes = ImageWishes(node);
  if (!IsGlobal(node)) return wishes;
  wishes.clear();
  LayoutWish wish = RowMajorWish(node);
  wishes.push_back(wish);
  static constexpr const char* kLast[] = {"acb", "acdb", "acdeb"};
  static constexpr const char* kBlocked[] = {"abc16b", "abcd16b", "abcde16b"};
  static constexpr const char* kBlocked8[] = {"abc8b", "abcd8b", "abcde8b"};
  const int rank = node.operand_type(0).rank();
  const char* blocked =
      VectorChannels() == 16 ? kBlocked[rank - 3] : kBlocked8[rank - 3];
  for (const char* layout : {kLast[rank - 3], blocked}) {
    const absl::StatusOr<Layout> parsed = ParseLayout(layout, rank);
    wish.operands[0].emplace(*parsed);
    wishes.push_back(wish);
  }
  return wishes;
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  TensorType x = node.operand_type(0);
  x.layout = *wish.operands[0];
  TensorType y = node.result_type(0);
  y.layout = *wish.results[0];
  if (IsGlobal(node)) {
    if (!y.layout.is_row_major()) return NotOffered("a layout of one pixel");
    y.dims.resize(2);
    y.dims.resize(x.dims.size(), 1);
    y.layout = *wish.operands[0];
    if (y.num_stored_elements() != y.num_elements()) {
      return NotOffered("padding of one pixel");
    }
  }
  const SpatialOrder order(x.rank() - 2, {x.dims, y.dims});
  if (!order.Keeps(x.layout) || !order.Keeps(y.layout)) {
    return NotOffered("spatial dimensions in another order");
  }
  const auto source = DescOf(order.Of(x));
  const auto result = DescOf(order.Of(y));
  if (!source || !result) return NotOffered("a layout without descriptor");
  const AverageWindow w = InOrder(order, WindowOf(node));
  OnednnRecipe recipe;
  recipe.primitive = dnnl::pooling_v2_forward::primitive_desc(
      dnnl::pooling_v2_forward::desc(dnnl::prop_kind::forward_inference, w.kind,
                                     *source, *result, w.strides, w.kernel,
                                     w.dilates, w.before, w.after),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such pool");
  recipe.arguments = {{DNNL_ARG_SRC, false, 0, *source},
                      {DNNL_ARG_DST, true, 0, *result}};
  TakeLayouts(wish, recipe);
  recipe.bits_depend_on_threads = false;
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnPool = {
    .kernel = "onednn.pool",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
};

}  // namespace partita
