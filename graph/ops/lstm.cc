// An LSTM over the steps of a sequence, after the product of its inputs.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/lstm_cell.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/recurrent_gradient.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr RecurrenceOperands kOperands = {
    .gates_per_unit = 4, .cell = 3, .peepholes = 5, .lengths = 4};

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckRecurrence(op, kOperands));
  PARTITA_RETURN_IF_ERROR(CheckGateFunctions(op, 3));
  return SetRecurrenceResults(op, results, {0}, {1, 2});
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<RecurrenceLine> lines,
                           LinesOf(op, kOperands, in));
  const RecurrenceExtents e(op);
  const LstmCell cell(op);
  LineTensor gates(in[0]), r(in[1]), hidden(in[2]), cells(in[3]);
  LineTensor peepholes(in.size() > 5 ? in[5] : in[1]);
  LineTensor y(out[0].type()), last(out[1].type()), last_cell(out[2].type());
  for (const RecurrenceLine& line : lines) {
    const int64_t d = line.direction;
    LstmStep s;
    s.hidden = hidden.CopyOf(line);
    s.cell = cells.CopyOf(line);
    for (int64_t i = 0; i < line.length; ++i) {
      const double* input = gates.At(line, line.Time(i));
      s.sums.assign(input, input + e.width);
      AddProduct(s.hidden.data(), r.Of(d), e, 0, e.width, s.sums.data());
      s.cell_before = s.cell;
      cell.Forth(in.size() > 5 ? peepholes.Of(d) : nullptr, s);
      std::copy(s.hidden.begin(), s.hidden.end(), y.At(line, line.Time(i)));
    }
    std::copy(s.hidden.begin(), s.hidden.end(), last.State(line));
    std::copy(s.cell.begin(), s.cell.end(), last_cell.State(line));
  }
  y.WriteTo(out[0]);
  last.WriteTo(out[1]);
  last_cell.WriteTo(out[2]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) { return RecurrenceCost(op, 1); }

DimensionRule Rule(const OpView& op) {
  return RecurrenceRule(op, kOperands, {0}, {1, 2});
}

// The sums of the three peephole gates, times the cells that they read.
Term PeepholeGradient(const Term& dgates, const Term& seen) {
  const int64_t width = seen.dims()[3];
  return DirectionSums(SliceOf(dgates, 3, 0, width) * seen);
}

absl::Status Gradient(GradBuilder& b) {
  const std::vector<Term> found = BackThroughTime(b, kLstmGradient, 2);
  if (!b.status().ok()) return b.status();
  if (b.needs(1)) b.Yield(1, WeightGradient(found[3], found[0]));
  if (b.needs(5)) b.Yield(5, PeepholeGradient(found[0], found[4]));
  return b.status();
}

std::vector<OpSample> Samples() {
  const SampleOperand lengths = I64({3}, 0, 4);
  const SampleOperand small = {DType::kF32, {2, 3, 12}, -0.5, 0.5};
  const Attributes both = {{"reverse", Ints{0, 1}}};
  return {
      {{F32({4, 3, 2, 12}), small, F32({2, 3, 3}), F32({2, 1, 3})}, both},
      {{F32({4, 3, 2, 12}), small, F32({2, 1, 3}), F32({2, 3, 3}), lengths,
        F32({2, 9})},
       {{"reverse", Ints{1, 0}}, {"clip", 1.25}}},
      {{F32({2, 3, 1, 4}), F32({1, 1, 4}), F32({1, 3, 1}), F32({1, 3, 1}),
        I64({1}, 1, 2), F32({1, 3})},
       {{"input_forget", true},
        {"activations", "hard_sigmoid softsign elu"},
        {"alphas", Floats{0.3, 0, 0.7}},
        {"betas", Floats{0.4, 0, 0}}}},
  };
}

}  // namespace

extern constinit const OpDef kLstm = {
    .name = "lstm",
    .doc =
        "An LSTM over steps: gates [steps, batch, directions, 4 units] are the "
        "input terms of input, output, forget and candidate, r [directions, "
        "units, 4 units] multiplies the hidden state, hidden and cell are "
        "[directions, batch or 1, units]. Results: all hidden states [steps, "
        "batch, directions, units], zeros after a row's length, the last "
        "hidden and the last cell.",
    .operands = {{{"gates"},
                  {"r"},
                  {"hidden"},
                  {"cell"},
                  {"lengths", kOptional},
                  {"peepholes", kOptional}}},
    .num_results = 3,
    .attrs = {{kReverseAttr, StringAttr("activations", "sigmoid tanh tanh"),
               kAlphasAttr, kBetasAttr, kClipAttr,
               BoolAttr("input_forget", false)}},
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
