// Pad: adds elements around a tensor, or removes them.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status CheckAmounts(const OpView& op, absl::string_view name) {
  PARTITA_RETURN_IF_ERROR(
      ExpectPerDimension(op, name, op.operand_type(0).rank()));
  const std::vector<int64_t>& list = op.attr_ints(name);
  for (int64_t amount : list) {
    if (amount >= -kMaxTensorBytes && amount <= kMaxTensorBytes) continue;
    return BadOp(op, absl::StrCat(name, " = [", absl::StrJoin(list, ", "), "]"),
                 absl::StrCat(-kMaxTensorBytes, "..", kMaxTensorBytes),
                 "correct the amounts");
  }
  return absl::OkStatus();
}

absl::Status CheckMode(const OpView& op) {
  const std::string& mode = op.attr_string("mode");
  if (mode == "constant" || mode == "reflect" || mode == "edge") {
    return absl::OkStatus();
  }
  return BadOp(op, absl::StrCat("mode \"", mode, "\""),
               "\"constant\", \"reflect\" or \"edge\"", "name one of them");
}

absl::Status Infer(const OpView& op, Types& results) {
  TensorType type = op.operand_type(0).RowMajor();
  PARTITA_RETURN_IF_ERROR(CheckMode(op));
  PARTITA_RETURN_IF_ERROR(CheckAmounts(op, "before"));
  PARTITA_RETURN_IF_ERROR(CheckAmounts(op, "after"));
  for (int d = 0; d < type.rank(); ++d) {
    const int64_t extent = type.dims[d];
    const int64_t padded =
        extent + op.attr_ints("before")[d] + op.attr_ints("after")[d];
    const bool empty = extent == 0 && padded > 0;
    if (padded < 0 || (empty && op.attr_string("mode") != "constant")) {
      return BadExtents(
          op,
          absl::StrCat("pads of ", op.attr_ints("before")[d], " and ",
                       op.attr_ints("after")[d], " in dimension ", d, " of ",
                       Describe(op, 0)),
          empty ? "elements to copy" : "an extent of 0 or more",
          empty ? "use mode \"constant\"" : "crop less");
    }
    type.dims[d] = padded;
  }
  return results.Set(0, type);
}

// The element in 0..extent-1 for position `at`, which may be outside; -1 for
// the pad value.
int64_t Source(int64_t at, int64_t extent, const std::string& mode) {
  if (at >= 0 && at < extent) return at;
  if (mode == "constant") return -1;
  if (mode == "edge" || extent == 1) return at < 0 ? 0 : extent - 1;
  // The period of reflection at both ends, which are not repeated.
  const int64_t period = 2 * (extent - 1);
  const int64_t phase = ((at % period) + period) % period;
  return phase < extent ? phase : period - phase;
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const T value = op.attr_number("value").To<T>();
    for (T& element : out[0].data<T>()) element = value;
  });
  std::vector<std::vector<int64_t>> sources;
  for (int d = 0; d < out[0].type().rank(); ++d) {
    std::vector<int64_t>& source = sources.emplace_back();
    for (int64_t i = 0; i < out[0].type().dims[d]; ++i) {
      source.push_back(Source(i - op.attr_ints("before")[d],
                              in[0].type().dims[d], op.attr_string("mode")));
    }
  }
  CopyByIndex(in[0], sources, out[0]);
  return absl::OkStatus();
}

DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    const bool kept =
        op.attr_ints("before")[d] == 0 && op.attr_ints("after")[d] == 0;
    if (kept) rule.Keep(absl::StrCat("d", d), d, d);
  }
  return rule.Finish();
}

// Every element sums the gradients of the positions that show it.
Term FoldBack(GradBuilder& b, Term y, int dim, int64_t extent) {
  HostTensor sources({DType::kI64, {y.dims()[dim]}, {}});
  int64_t at = -b.op().attr_ints("before")[dim];
  for (int64_t& source : sources.data<int64_t>()) {
    source = Source(at++, extent, b.op().attr_string("mode"));
  }
  const int64_t axis = dim;
  return Apply(kGatherGradient, {y, b.Constant(std::move(sources))},
               {{"axis", axis}, {"extent", extent}});
}

absl::Status Gradient(GradBuilder& b) {
  const std::vector<int64_t> before = b.op().attr_ints("before");
  const std::vector<int64_t> after = b.op().attr_ints("after");
  const bool constant = b.op().attr_string("mode") == "constant";
  const Shape dims = b.operand(0).dims();
  Term y = b.grad(0);
  for (int d = 0; d < static_cast<int>(dims.size()) && y.valid(); ++d) {
    if (constant) {
      y = PadWith(y, d, -before[d], -after[d]);
    } else if (before[d] != 0 || after[d] != 0) {
      y = FoldBack(b, y, d, dims[d]);
    }
  }
  b.Yield(0, y);
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 3, 5})},
       {{"before", Ints{0, 2, -1}},
        {"after", Ints{0, -1, 2}},
        {"value", Number(1.5)}}},
      {{F32({4, 5})},
       {{"before", Ints{0, 3}}, {"after", Ints{0, 4}}, {"mode", "reflect"}}},
      {{F32({4, 5})},
       {{"before", Ints{0, 3}}, {"after", Ints{0, 4}}, {"mode", "edge"}}},
  };
}

}  // namespace

extern constinit const OpDef kPad = {
    .name = "pad",
    .doc =
        "The operand with elements before and after it in each dimension: a "
        "value, the mirrored operand, or its edge; negative amounts crop.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("before", AttributeKind::kInts),
               RequiredAttr("after", AttributeKind::kInts),
               StringAttr("mode", "constant"), NumberAttr("value", 0)}},
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
