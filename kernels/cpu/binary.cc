// onednn.binary: sums, differences, products and quotients of two operands;
// equal shapes in any layout, broadcasts row-major or by channel. Not maxima
// and minima, since oneDNN loses a NaN of the first operand.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/post_ops.h"

namespace partita {
namespace {

using dnnl::algorithm;

struct Function {
  const OpDef* op;
  algorithm kind;
  bool commutes;
};
const Function kFunctions[] = {
    {&kAdd, algorithm::binary_add, true},
    {&kMul, algorithm::binary_mul, true},
    {&kSub, algorithm::binary_sub, false},
    {&kDiv, algorithm::binary_div, false},
};

const Function* FunctionOf(const OpDef& op) {
  for (const Function& function : kFunctions) {
    if (function.op == &op) return &function;
  }
  return nullptr;
}

// Which node operand is as large as the result, and which one is broadcast.
struct Operands {
  int whole;
  int other;
};

std::optional<Operands> OperandsOf(const OpView& node) {
  const Function* function = FunctionOf(node.op());
  if (function == nullptr) return std::nullopt;
  const Shape& dims = node.result_type(0).dims;
  if (node.operand_type(0).dims == dims) return Operands{0, 1};
  if (node.operand_type(1).dims == dims && function->commutes) {
    return Operands{1, 0};
  }
  return std::nullopt;
}

bool Accepts(const OpView& node) {
  return AllF32(node) && OperandsOf(node).has_value();
}

bool IsBroadcast(const OpView& node, int operand) {
  return node.operand_type(operand).dims != node.result_type(0).dims;
}

// A broadcast operand is row-major whatever the image's layout.
std::vector<LayoutWish> Wishes(const OpView& node) {
  const Operands operands = *OperandsOf(node);
  std::vector<LayoutWish> wishes = ImageWishes(node);
  if (!IsBroadcast(node, operands.other)) return wishes;
  for (LayoutWish& wish : wishes) wish.operands[operands.other].emplace();
  return wishes;
}

// The result as (before, kept, after), if the operand has only `kept`.
std::optional<Shape> MiddleView(const Shape& dims, const Shape& broadcast) {
  const std::optional<Shape> padded =
      PaddedToRank(broadcast, static_cast<int>(dims.size()));
  if (!padded.has_value()) return std::nullopt;
  Shape view = {1, 1, 1};
  int part = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const bool kept = (*padded)[i] == dims[i];
    if (kept && part == 0) part = 1;
    if (!kept && part == 1) part = 2;
    if (kept && part == 2) return std::nullopt;
    view[part] *= dims[i];
  }
  // For an operand of one value the whole result is `after`: oneDNN's loop is
  // over the last dimension.
  if (part == 0) std::swap(view[0], view[2]);
  return view;
}

struct Descs {
  dnnl::memory::desc whole, other;
};

// Two equal shapes are lists of elements, including padding if it stays zero.
std::optional<Descs> DescsOf(const OpView& node, const Operands& operands,
                             const Layout& layout) {
  TensorType type = node.result_type(0);
  type.layout = layout;
  const Shape& other = node.operand_type(operands.other).dims;
  const int64_t stored = type.num_stored_elements();
  const bool padded = stored != type.num_elements();
  const bool broadcast = IsBroadcast(node, operands.other);
  if (!broadcast && (!padded || !node.is(kDiv))) {
    const dnnl::memory::desc list = RowMajorDesc({stored});
    return Descs{list, list};
  }
  if (padded && !broadcast) return std::nullopt;
  if (layout.is_row_major()) {
    const std::optional<Shape> view = MiddleView(type.dims, other);
    if (view.has_value()) {
      return Descs{RowMajorDesc(*view), RowMajorDesc({1, (*view)[1], 1})};
    }
  }
  const std::optional<Shape> extents = PaddedToRank(other, type.rank());
  const auto whole = DescOf(type);
  if (!extents.has_value() || !whole.has_value()) return std::nullopt;
  // One value per channel has the same bytes in the image's layout, which
  // oneDNN's fast loops require, unless the channels are padded.
  TensorType line = type;
  line.dims = *extents;
  const bool per_channel = line.num_elements() == line.dims[1];
  if (per_channel && line.num_stored_elements() == line.num_elements()) {
    return Descs{*whole, *DescOf(line)};
  }
  return Descs{*whole, RowMajorDesc(*extents)};
}

absl::StatusOr<OnednnRecipe> Describe(const OpView& node,
                                      const LayoutWish& wish) {
  const Operands operands = *OperandsOf(node);
  const Layout& layout = *wish.results[0];
  const bool broadcast = IsBroadcast(node, operands.other);
  const Layout& other = *wish.operands[operands.other];
  if (*wish.operands[operands.whole] != layout ||
      (broadcast ? !other.is_row_major() : other != layout)) {
    return NotOffered("other layouts");
  }
  const std::optional<Descs> descs = DescsOf(node, operands, layout);
  if (!descs.has_value()) return NotOffered("such a broadcast");
  OnednnRecipe recipe;
  recipe.primitive = dnnl::binary::primitive_desc(
      dnnl::binary::desc(FunctionOf(node.op())->kind, descs->whole,
                         descs->other, descs->whole),
      StrictAttributes(), CpuEngine(), /*allow_empty=*/true);
  if (!recipe.primitive) return NotOffered("no such function");
  recipe.arguments = {{DNNL_ARG_SRC_0, false, operands.whole, descs->whole},
                      {DNNL_ARG_SRC_1, false, operands.other, descs->other},
                      {DNNL_ARG_DST, true, 0, descs->whole}};
  TakeLayouts(wish, recipe);
  recipe.in_place = {{operands.whole, 0}};
  recipe.bits_depend_on_threads = false;
  return recipe;
}

}  // namespace

extern const OnednnFamily kOnednnBinary = {
    .kernel = "onednn.binary",
    .accepts = Accepts,
    .wishes = Wishes,
    .describe = Describe,
};

}  // namespace partita
