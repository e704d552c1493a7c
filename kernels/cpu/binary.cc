// onednn.binary: elementwise functions of two operands, with an activation
// behind; equal shapes in any layout, broadcasts row-major or per channel.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/cpu/fused_chain.h"
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
    {&kMax, algorithm::binary_max, true},
    {&kMin, algorithm::binary_min, true},
};

const Function* FunctionOf(const OpDef& op) {
  for (const Function& function : kFunctions) {
    if (function.op == &op) return &function;
  }
  return nullptr;
}

// Which node operand is as large as the result, and which is broadcast to it.
struct Operands {
  int whole;
  int other;
};

std::optional<Operands> OperandsOf(const OpView& node,
                                   const FusedChain& chain) {
  const Function* function = FunctionOf(chain.root.op());
  if (function == nullptr) return std::nullopt;
  const Shape& dims = node.result_type(0).dims;
  const int a = chain.root_operands[0];
  const int b = chain.root_operands[1];
  if (node.operand_type(a).dims == dims) return Operands{a, b};
  if (node.operand_type(b).dims == dims && function->commutes) {
    return Operands{b, a};
  }
  return std::nullopt;
}

// Links that need no operand.
bool OnlyActivations(const FusedChain& chain) {
  for (const ChainLink& link : chain.links) {
    if (link.other_operand >= 0) return false;
  }
  return true;
}

bool Accepts(const OpView& node) {
  if (!AllF32(node) || node.num_results() != 1) return false;
  if (!node.is(kFused) && node.num_operands() != 2) return false;
  const std::optional<FusedChain> chain = ReadChain(node);
  return chain.has_value() && OnlyActivations(*chain) &&
         OperandsOf(node, *chain).has_value();
}

bool IsBroadcast(const OpView& node, int operand) {
  return node.operand_type(operand).dims != node.result_type(0).dims;
}

// A broadcast operand is row-major whatever the image's layout.
std::vector<LayoutWish> Wishes(const OpView& node) {
  const Operands operands = *OperandsOf(node, *ReadChain(node));
  std::vector<LayoutWish> wishes = ImageWishes(node);
  if (!IsBroadcast(node, operands.other)) return wishes;
  for (LayoutWish& wish : wishes) wish.operands[operands.other].emplace();
  return wishes;
}

// The result as (before, kept, after), where the operand has only `kept`.
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
  return view;
}

struct Descs {
  dnnl::memory::desc whole, other;
};

bool KeepsZero(const FusedChain& chain) {
  if (chain.root.is(kDiv)) return false;
  for (const ChainLink& link : chain.links) {
    const ScalarFunction* function = link.op.op().scalar;
    if (link.scalar.has_value() || function == nullptr ||
        !function->keeps_zero) {
      return false;
    }
  }
  return true;
}

// Two equal shapes are lists of elements, padding included where it stays zero.
// oneDNN 2.6.3 computes wrongly with padding and post-ops both.
std::optional<Descs> DescsOf(const OpView& node, const FusedChain& chain,
                             const Operands& operands, const Layout& layout) {
  TensorType type = node.result_type(0);
  type.layout = layout;
  const Shape& other = node.operand_type(operands.other).dims;
  const int64_t stored = type.num_stored_elements();
  const bool padded = stored != type.num_elements();
  const bool broadcast = IsBroadcast(node, operands.other);
  if (!broadcast && (!padded || KeepsZero(chain))) {
    const dnnl::memory::desc list = RowMajorDesc({stored});
    return Descs{list, list};
  }
  if (padded && (!broadcast || !chain.links.empty())) return std::nullopt;
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
  // oneDNN's fast loops ask for, unless the channels are padded.
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
  const FusedChain chain = *ReadChain(node);
  const Operands operands = *OperandsOf(node, chain);
  const Layout& layout = *wish.results[0];
  const bool broadcast = IsBroadcast(node, operands.other);
  const Layout& other = *wish.operands[operands.other];
  if (*wish.operands[operands.whole] != layout ||
      (broadcast ? !other.is_row_major() : other != layout)) {
    return NotOffered("other layouts");
  }
  const std::optional<Descs> descs = DescsOf(node, chain, operands, layout);
  if (!descs.has_value()) return NotOffered("such a broadcast");
  PostOpTarget target;
  target.result = node.result_type(0);
  PARTITA_ASSIGN_OR_RETURN(const PostOps post,
                           MakePostOps(node, chain, target));
  dnnl::primitive_attr attributes = StrictAttributes();
  attributes.set_post_ops(post.ops);
  OnednnRecipe recipe;
  recipe.primitive = dnnl::binary::primitive_desc(
      dnnl::binary::desc(FunctionOf(chain.root.op())->kind, descs->whole,
                         descs->other, descs->whole),
      attributes, CpuEngine(), /*allow_empty=*/true);
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
