// The position of the greatest or least element along an axis.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", x.rank()));
  Shape dims = x.dims;
  if (dims[AxisOf(op)] == 0) {
    return BadExtents(op, Describe(op, 0),
                      absl::StrCat("at least 1 in dimension ", AxisOf(op)),
                      "no position of an empty axis is the greatest or least");
  }
  dims[AxisOf(op)] = 1;
  if (!op.attr_bool("keep_dims")) dims.erase(dims.begin() + AxisOf(op));
  return results.Set(0, {DType::kI64, dims, {}});
}

// The first of equals, or the last. A NaN goes before all numbers.
template <bool is_max>
absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const AxisLines lines(in[0].type().dims, AxisOf(op));
  const bool last = op.attr_bool("last_index");
  int64_t* y = reinterpret_cast<int64_t*>(out[0].bytes());
  VisitDType(in[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    using E = Exact<T>;
    const T* x = reinterpret_cast<const T*>(in[0].bytes());
    const auto beyond = [](E a, E b) {
      if (a != a || b != b) return a != a && b == b;
      return is_max ? a > b : a < b;
    };
    lines.ForEach([&](int64_t at) {
      int64_t best = 0;
      E top = static_cast<E>(x[at]);
      for (int64_t i = 1; i < lines.extent; ++i) {
        const E v = static_cast<E>(x[at + i * lines.inner]);
        if (last ? beyond(top, v) : !beyond(v, top)) continue;
        best = i;
        top = v;
      }
      *y++ = best;
    });
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  return {.flops = 1.0 * op.operand_type(0).num_elements(),
          .bytes = BytesAccessedOnce(op)};
}

DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  int next = 0;
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    if (d != AxisOf(op)) rule.Keep(absl::StrCat("d", d), d, next);
    next += d != AxisOf(op) || op.attr_bool("keep_dims");
  }
  return rule.Finish();
}

std::vector<OpSample> ArgMaxSamples() {
  return {{{I32({4, 7, 3}, 0, 3)}, {{"axis", 1}}}};
}

std::vector<OpSample> ArgMinSamples() {
  return {{{F32({4, 7, 3})},
           {{"axis", -1}, {"keep_dims", false}, {"last_index", true}}}};
}

constexpr OpDef ArgOp(const char* name, const char* doc,
                      decltype(OpDef::eval) eval,
                      decltype(OpDef::samples) samples) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.operands = {{{"x"}}};
  op.attrs = {{IntAttr("axis", 0), BoolAttr("keep_dims", true),
               BoolAttr("last_index", false)}};
  op.infer = Infer;
  op.eval = eval;
  op.no_gradient = "the result is a position or an extent";
  op.cost = EstimateCost;
  op.dimension_rule = Rule;
  op.samples = samples;
  return op;
}

}  // namespace

// clang-format off
extern constinit const OpDef kArgMax = ArgOp("arg_max", "The position of the greatest element along an axis; of equals the first or the last.", Evaluate<true>, ArgMaxSamples);
extern constinit const OpDef kArgMin = ArgOp("arg_min", "The position of the least element along an axis; of equals the first or the last.", Evaluate<false>, ArgMinSamples);
// clang-format on

}  // namespace partita
