// A GRU over the steps of a sequence, after the product of its inputs.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/ops/grad_builder.h"
#include "graph/ops/gru_cell.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/recurrent_gradient.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr RecurrenceOperands kOperands = {
    .gates_per_unit = 3, .bias = 3, .lengths = 4};

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckRecurrence(op, kOperands));
  PARTITA_RETURN_IF_ERROR(CheckGateFunctions(op, 2));
  return SetRecurrenceResults(op, results, {0}, {1});
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<RecurrenceLine> lines,
                           LinesOf(op, kOperands, in));
  const RecurrenceExtents e(op);
  const GruCell cell(op);
  LineTensor gates(in[0]), r(in[1]), hidden(in[2]);
  LineTensor bias(in.size() > 3 ? in[3] : in[1]);
  LineTensor y(out[0].type()), last(out[1].type());
  for (const RecurrenceLine& line : lines) {
    const int64_t d = line.direction;
    GruStep s;
    s.hidden = hidden.CopyOf(line);
    for (int64_t i = 0; i < line.length; ++i) {
      const double* input = gates.At(line, line.Time(i));
      s.sums.assign(input, input + e.width);
      s.before = s.hidden;
      cell.Forth(r.Of(d), in.size() > 3 ? bias.Of(d) : nullptr, s);
      std::copy(s.hidden.begin(), s.hidden.end(), y.At(line, line.Time(i)));
    }
    std::copy(s.hidden.begin(), s.hidden.end(), last.State(line));
  }
  y.WriteTo(out[0]);
  last.WriteTo(out[1]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) { return RecurrenceCost(op, 1); }

DimensionRule Rule(const OpView& op) {
  return RecurrenceRule(op, kOperands, {0}, {1});
}

// The reset is after the product with r or before it. Accordingly `reset` is
// the gradient through it or its output.
Term WeightGradientOf(const Term& dgates, const Term& before, const Term& reset,
                      bool late) {
  const int64_t units = before.dims()[3];
  const Term open = SliceOf(dgates, 3, 0, 2 * units);
  const Term candidate =
      late ? WeightGradient(before, reset)
           : WeightGradient(reset, SliceOf(dgates, 3, 2 * units, units));
  return Apply(kConcat, {WeightGradient(before, open), candidate},
               {{"axis", int64_t{2}}});
}

absl::Status Gradient(GradBuilder& b) {
  const bool late = b.op().attr_bool("linear_before_reset");
  const std::vector<Term> found = BackThroughTime(b, kGruGradient, 1);
  if (!b.status().ok()) return b.status();
  const Term dgates = found[0];
  if (b.needs(1)) {
    b.Yield(1, WeightGradientOf(dgates, found[2], found[3], late));
  }
  if (b.needs(3)) {
    const int64_t units = b.operand(3).dims()[1];
    b.Yield(3, DirectionSums(late ? found[3]
                                  : SliceOf(dgates, 3, 2 * units, units)));
  }
  return b.status();
}

std::vector<OpSample> Samples() {
  const SampleOperand lengths = I64({3}, 0, 4);
  return {
      {{F32({4, 3, 2, 9}),
        {DType::kF32, {2, 3, 9}, -0.5, 0.5},
        F32({2, 3, 3}),
        F32({2, 3}),
        lengths},
       {{"reverse", Ints{0, 1}}, {"linear_before_reset", true}}},
      {{F32({4, 3, 1, 6}), F32({1, 2, 6}), F32({1, 1, 2}), F32({1, 2})},
       {{"clip", 1.25}}},
      {{F32({2, 3, 1, 6}), F32({1, 2, 6}), F32({1, 3, 2})},
       {{"activations", "softplus scaled_tanh"},
        {"alphas", Floats{0, 1.5}},
        {"betas", Floats{0, 0.5}}}},
  };
}

}  // namespace

extern constinit const OpDef kGru = {
    .name = "gru",
    .doc =
        "A GRU over steps: gates [steps, batch, directions, 3 units] are the "
        "input terms of update, reset and candidate, r [directions, units, 3 "
        "units] multiplies the hidden state, hidden is [directions, batch or "
        "1, units], and bias [directions, units] is added to the state's term "
        "of the candidate. The reset gate multiplies that term if "
        "linear_before_reset, otherwise the state before r. Results: all "
        "hidden states [steps, batch, directions, units], zeros after a row's "
        "length, and the last one.",
    .operands = {{{"gates"},
                  {"r"},
                  {"hidden"},
                  {"bias", kOptional},
                  {"lengths", kOptional}}},
    .num_results = 2,
    .attrs = {{kReverseAttr, StringAttr("activations", "sigmoid tanh"),
               kAlphasAttr, kBetasAttr, kClipAttr,
               BoolAttr("linear_before_reset", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = RecurrenceShard,
    .samples = Samples,
};

}  // namespace partita
