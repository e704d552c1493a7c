// Running sums and products along an axis.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", op.operand_type(0).rank()));
  return results.Set(0, op.operand_type(0).RowMajor());
}

template <bool is_product>
absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  const AxisLines lines(in[0].type().dims, AxisOf(op));
  const bool exclusive = op.attr_bool("exclusive");
  const bool reverse = op.attr_bool("reverse");
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const T* x = reinterpret_cast<const T*>(in[0].bytes());
    T* y = reinterpret_cast<T*>(out[0].bytes());
    lines.ForEach([&](int64_t at) {
      Wide<T> total = is_product ? 1 : 0;
      for (int64_t i = 0; i < lines.extent; ++i) {
        const int64_t step = reverse ? lines.extent - 1 - i : i;
        const int64_t here = at + step * lines.inner;
        if (exclusive) y[here] = Narrow<T>(total);
        const Wide<T> next = static_cast<Wide<T>>(x[here]);
        total = is_product ? total * next : total + next;
        if (!exclusive) y[here] = Narrow<T>(total);
      }
    });
  });
  return absl::OkStatus();
}

DimensionRule Rule(const OpView& op) { return AlongAxisRule(op, AxisOf(op)); }

// Element i is in every sum from i on, so its gradient is a sum from the other
// end.
absl::Status SumGradient(GradBuilder& b) {
  const OpView op = b.op();
  const bool reverse = !op.attr_bool("reverse");
  b.Yield(0, Apply(kCumsum, {b.grad(0)},
                   {{"axis", op.attr_int("axis")},
                    {"exclusive", op.attr_bool("exclusive")},
                    {"reverse", reverse}}));
  return b.status();
}

std::vector<OpSample> CumsumSamples() {
  return {
      {{F32({4, 7, 3})}, {{"axis", 1}, {"exclusive", true}}},
      {{I32({4, 7})}, {{"axis", -1}, {"reverse", true}}},
  };
}

std::vector<OpSample> CumprodSamples() {
  return {
      {{F32({4, 7, 3})}, {{"axis", 1}, {"exclusive", true}}},
      {{I32({4, 7}, -3, 3)}, {{"axis", -1}, {"reverse", true}}},
  };
}

constexpr OpDef RunningOp(const char* name, const char* doc,
                          decltype(OpDef::eval) eval,
                          decltype(OpDef::samples) samples) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.operands = {{{"x"}}};
  op.attrs = {{RequiredAttr("axis", AttributeKind::kInt),
               BoolAttr("exclusive", false), BoolAttr("reverse", false)}};
  op.tolerance = Tolerance::kReduction;
  op.infer = Infer;
  op.eval = eval;
  op.cost = CostPerElement<1>;
  op.dimension_rule = Rule;
  op.samples = samples;
  return op;
}
constexpr OpDef CumsumOp(OpDef op) {
  op.gradient = SumGradient;
  return op;
}
constexpr OpDef CumprodOp(OpDef op) {
  op.no_gradient = "not implemented: it takes the products without one factor";
  return op;
}

}  // namespace

extern constinit const OpDef kCumsum = CumsumOp(
    RunningOp("cumsum",
              "The sum of all elements up to each along an axis; exclusive "
              "omits the element itself, reverse starts at the end.",
              Evaluate</*is_product=*/false>, CumsumSamples));

extern constinit const OpDef kCumprod = CumprodOp(
    RunningOp("cumprod",
              "The product of all elements up to each along an axis; exclusive "
              "omits the element itself, reverse starts at the end.",
              Evaluate</*is_product=*/true>, CumprodSamples));

}  // namespace partita
