// One-hot: each index becomes a line with one hot position.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

// The axis in the result, which has one dimension more than the indices.
int Axis(const OpView& op) {
  return AxisAttr(op, "axis", op.operand_type(0).rank() + 1);
}

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectDims(op, 1, {2}));
  PARTITA_RETURN_IF_ERROR(
      ExpectAxis(op, "axis", op.operand_type(0).rank() + 1));
  TensorType type = {op.operand_type(1).dtype, op.operand_type(0).dims, {}};
  type.dims.insert(type.dims.begin() + Axis(op), op.attr_int("depth"));
  return results.Set(0, type);
}

// An index outside -depth..depth - 1 has no hot position.
absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const std::vector<int64_t> indices = ToInt64s(in[0]);
  const AxisLines lines(out[0].type().dims, Axis(op));
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const T off = in[1].data<T>()[0];
    const T on = in[1].data<T>()[1];
    T* y = reinterpret_cast<T*>(out[0].bytes());
    size_t next = 0;
    lines.ForEach([&](int64_t at) {
      int64_t hot = indices[next++];
      if (hot < 0) hot += lines.extent;
      for (int64_t i = 0; i < lines.extent; ++i) {
        y[at + i * lines.inner] = i == hot ? on : off;
      }
    });
  });
  return absl::OkStatus();
}

DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    rule.Keep(absl::StrCat("d", d), d, d < Axis(op) ? d : d + 1);
  }
  return rule.Finish();
}

HostTensor OffAndOn(DType dtype) {
  HostTensor marks({dtype, {2}, {}});
  SetFromDouble(marks, 1, 1);
  return marks;
}

// Writes values[1] at every hot position, values[0] elsewhere.
absl::Status Gradient(GradBuilder& b) {
  if (!b.needs(1)) return b.status();
  const OpView op = b.op();
  const DType dtype = op.result_type(0).dtype;
  const Term marks = b.Constant(OffAndOn(dtype));
  const Term hot =
      Apply(kOneHot, {b.operand(0), marks},
            {{"depth", op.attr_int("depth")}, {"axis", op.attr_int("axis")}});
  const Term on = SumTo(b.grad(0) * hot, {});
  const Term off = SumTo(b.grad(0), {}) - on;
  const Shape one = {1};
  b.Yield(1, Apply(kConcat, {ReshapeTo(off, one), ReshapeTo(on, one)},
                   {{"axis", 0}}));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {{{I64({4, 3}, -6, 5), F32({2})}, {{"depth", 6}, {"axis", 1}}}};
}

}  // namespace

extern constinit const OpDef kOneHot = {
    .name = "one_hot",
    .doc =
        "For each index a line of depth elements along a new axis: "
        "values[1] at the index, values[0] elsewhere.",
    .operands = {{{"indices"}, {"values"}}},
    .attrs = {{RequiredAttr("depth", AttributeKind::kInt),
               IntAttr("axis", -1)}},
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
