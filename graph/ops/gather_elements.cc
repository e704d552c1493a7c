// Gather elements and scatter elements: single elements along one axis, each
// selected by an index.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/indexing.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/scatter_gradient.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

// An index has its own position in x, except along the axis.
absl::Status CheckIndices(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  const TensorType& indices = op.operand_type(1);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kIntegers));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", x.rank()));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 1, x.rank(), x.rank()));
  for (int d = 0; d < x.rank(); ++d) {
    if (d == AxisOf(op) || indices.dims[d] <= x.dims[d]) continue;
    return BadExtents(op, Describe(op, 1),
                      absl::StrCat("at most ", x.dims[d], " in dimension ", d,
                                   ", as in ", Describe(op, 0)),
                      "slice the indices");
  }
  return absl::OkStatus();
}

absl::Status InferGather(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckIndices(op));
  return results.Set(0,
                     {op.operand_type(0).dtype, op.operand_type(1).dims, {}});
}

absl::Status InferScatter(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckIndices(op));
  return InferUpdates(op, op.operand_type(1).dims, results);
}

// visit(offset in x, position in the indices) for every index.
template <typename Visit>
absl::Status ForEachIndexed(const OpView& op, const HostTensor& x,
                            const HostTensor& indices, Visit&& visit) {
  const int axis = AxisOf(op);
  const Shape strides = RowMajorStrides(x.type().dims);
  Shape others = strides;
  others[axis] = 0;
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<int64_t> positions,
      ReadIndices(op, indices, {x.type().dims[axis]},
                  op.attr_bool("from_end") ? NegativeIndex::kFromEnd
                                           : NegativeIndex::kOutside));
  size_t next = 0;
  ForEachOffset<1>(indices.type().dims, {others},
                   [&](const std::array<int64_t, 1>& at) {
                     visit(at[0] + positions[next] * strides[axis], next);
                     ++next;
                   });
  return absl::OkStatus();
}

absl::Status EvaluateGather(const OpView& op, absl::Span<const HostTensor> in,
                            absl::Span<HostTensor> out) {
  return VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const T* x = reinterpret_cast<const T*>(in[0].bytes());
    T* y = reinterpret_cast<T*>(out[0].bytes());
    return ForEachIndexed(op, in[0], in[1],
                          [&](int64_t from, size_t to) { y[to] = x[from]; });
  });
}

absl::Status EvaluateScatter(const OpView& op, absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  CopyBytes(in[0], out[0]);
  return VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const T* updates = reinterpret_cast<const T*>(in[2].bytes());
    T* y = reinterpret_cast<T*>(out[0].bytes());
    return ForEachIndexed(op, in[0], in[1], [&](int64_t to, size_t from) {
      y[to] = Combined<T>(ScatterReductionOf(op), y[to], updates[from]);
    });
  });
}

// Dimensions with equal extents in indices and x are kept; a gather also keeps
// the axis of the indices.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& x = op.operand_type(0).dims;
  const Shape& indices = op.operand_type(1).dims;
  const bool scatters = op.num_operands() == 3;
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    const bool is_axis = d == AxisOf(op);
    if (is_axis ? scatters : indices[d] != x[d]) continue;
    const int factor = rule.Kept(absl::StrCat("d", d), indices[d]);
    if (!is_axis) rule.Operand(0, d, factor);
    rule.Operand(1, d, factor).Result(0, d, factor);
    if (scatters) rule.Operand(2, d, factor);
  }
  return rule.Finish();
}

// Gathers from, and scatters to, the positions of the node's indices in any
// tensor like x.
Indexed ElementsAt(GradBuilder& b) {
  return {&kGatherElements,
          &kScatterElements,
          b.operand(1),
          {{"axis", b.op().attr_int("axis")},
           {"from_end", b.op().attr_bool("from_end")}}};
}

absl::Status GatherGradient(GradBuilder& b) {
  const Term zeros = b.Filled(b.operand(0).type(), 0);
  b.Yield(0, ElementsAt(b).Scatter("add", zeros, b.grad(0)));
  return b.status();
}

absl::Status ScatterElementsGradient(GradBuilder& b) {
  return ScatterGradient(b, ElementsAt(b));
}

std::vector<OpSample> GatherElementsSamples() {
  return {
      {{F32({4, 6, 5}), I64({4, 3, 2}, -6, 5)}, {{"axis", 1}}},
      {{F32({4, 6, 5}), I64({4, 3, 2}, 0, 5)},
       {{"axis", 1}, {"from_end", false}}},
  };
}

std::vector<OpSample> ScatterElementsSamples() {
  return {
      {{F32({4, 6, 5}), I64({4, 3, 5}, -6, 5), F32({4, 3, 5})},
       {{"axis", 1}, {"reduction", "add"}}},
      {{I32({4, 6}), I32({4, 3}, 0, 5), I32({4, 3})}, {{"axis", 1}}},
      {{F32({4, 6}), I64({4, 3}, 0, 5), F32({4, 3})},
       {{"axis", 1}, {"reduction", "mul"}}},
      {{F32({4, 6}), I64({1, 6}, 0, 3), F32({1, 6})}},
  };
}

}  // namespace

extern constinit const OpDef kGatherElements = {
    .name = "gather_elements",
    .doc =
        "Each element of the result is the element of x at the same position, "
        "except along the axis, where an index gives the position; a negative "
        "index counts from the end, or is out of range if from_end is false.",
    .operands = {{{"x"}, {"indices"}}},
    .attrs = {{IntAttr("axis", 0), BoolAttr("from_end", true)}},
    .infer = InferGather,
    .eval = EvaluateGather,
    .gradient = GatherGradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .samples = GatherElementsSamples,
};

extern constinit const OpDef kScatterElements = {
    .name = "scatter_elements",
    .doc =
        "x with updates stored, or reduced, at their own positions, except "
        "along the axis, where an index gives the position as in "
        "gather_elements.",
    .operands = {{{"x"}, {"indices"}, {"updates"}}},
    .attrs = {{IntAttr("axis", 0), BoolAttr("from_end", true),
               StringAttr("reduction", "none")}},
    .tolerance = Tolerance::kReduction,
    .infer = InferScatter,
    .eval = EvaluateScatter,
    .gradient = ScatterElementsGradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .samples = ScatterElementsSamples,
};

}  // namespace partita
