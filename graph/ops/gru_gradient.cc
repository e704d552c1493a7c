// The gradient of a GRU through time; recomputes the steps.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "graph/ops/gru_cell.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr RecurrenceOperands kOperands = {
    .gates_per_unit = 3, .bias = 5, .lengths = 6, .dy = 3, .dlast = 4};

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckRecurrence(op, kOperands));
  PARTITA_RETURN_IF_ERROR(CheckGateFunctions(op, 2));
  PARTITA_RETURN_IF_ERROR(results.Set(0, op.operand_type(0).RowMajor()));
  return SetRecurrenceResults(op, results, {2, 3}, {1});
}

class Backward {
 public:
  Backward(const OpView& op, absl::Span<const HostTensor> in,
           absl::Span<HostTensor> out)
      : e_(op),
        cell_(op),
        gates_(in[0]),
        r_(in[1]),
        hidden_(in[2]),
        dy_(in[3]),
        dlast_(in[4]),
        bias_(in.size() > 5 ? in[5] : in[1]),
        has_bias_(in.size() > 5),
        dgates_(out[0].type()),
        dhidden_(out[1].type()),
        before_(out[2].type()),
        reset_(out[3].type()) {}

  void Run(const RecurrenceLine& line) {
    Recompute(line);
    std::vector<double> dh = dlast_.CopyOf(line);
    for (int64_t i = line.length; i-- > 0;) {
      const int64_t t = line.Time(i);
      for (int64_t u = 0; u < e_.units; ++u) dh[u] += dy_.At(line, t)[u];
      std::vector<double> dreset(e_.units);
      cell_.Back(r_.Of(line.direction), steps_[i], dh.data(),
                 dgates_.At(line, t), dreset.data());
      const std::vector<double>& kept = cell_.late() ? dreset : steps_[i].reset;
      std::copy(kept.begin(), kept.end(), reset_.At(line, t));
    }
    std::copy(dh.begin(), dh.end(), dhidden_.State(line));
  }

  void WriteTo(absl::Span<HostTensor> out) const {
    dgates_.WriteTo(out[0]);
    dhidden_.WriteTo(out[1]);
    before_.WriteTo(out[2]);
    reset_.WriteTo(out[3]);
  }

 private:
  void Recompute(const RecurrenceLine& line) {
    steps_.assign(line.length, {});
    std::vector<double> hidden = hidden_.CopyOf(line);
    for (int64_t i = 0; i < line.length; ++i) {
      GruStep& s = steps_[i];
      const double* input = gates_.At(line, line.Time(i));
      s.sums.assign(input, input + e_.width);
      s.before = hidden;
      std::copy(hidden.begin(), hidden.end(), before_.At(line, line.Time(i)));
      cell_.Forth(r_.Of(line.direction),
                  has_bias_ ? bias_.Of(line.direction) : nullptr, s);
      hidden = s.hidden;
    }
  }

  RecurrenceExtents e_;
  GruCell cell_;
  LineTensor gates_, r_, hidden_, dy_, dlast_, bias_;
  bool has_bias_;
  LineTensor dgates_, dhidden_, before_, reset_;
  std::vector<GruStep> steps_;  // of the line
};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<RecurrenceLine> lines,
                           LinesOf(op, kOperands, in));
  Backward backward(op, in, out);
  for (const RecurrenceLine& line : lines) backward.Run(line);
  backward.WriteTo(out);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) { return RecurrenceCost(op, 2); }

DimensionRule Rule(const OpView& op) {
  return RecurrenceRule(op, kOperands, {0, 2, 3}, {1});
}

std::vector<OpSample> Samples() {
  const SampleOperand lengths = I64({3}, 0, 4);
  return {
      {{F32({4, 3, 2, 9}),
        {DType::kF32, {2, 3, 9}, -0.5, 0.5},
        F32({2, 3, 3}),
        F32({4, 3, 2, 3}),
        F32({1, 2, 3, 3}),
        F32({2, 3}),
        lengths},
       {{"reverse", Ints{0, 1}}, {"linear_before_reset", true}}},
      {{F32({4, 3, 1, 6}), F32({1, 2, 6}), F32({1, 1, 2}), F32({4, 3, 1, 2}),
        F32({1, 1, 3, 2})}},
  };
}

}  // namespace

extern constinit const OpDef kGruGradient = {
    .name = "gru_gradient",
    .doc =
        "The gradients of a gru with respect to gates and hidden, where dy and "
        "dlast [1, directions, batch, units] are the gradients of its results; "
        "then the hidden state at the start of each step, and the gradient of "
        "the state's term of the candidate if linear_before_reset, otherwise "
        "the state after the reset.",
    .operands = {{{"gates"},
                  {"r"},
                  {"hidden"},
                  {"dy"},
                  {"dlast"},
                  {"bias", kOptional},
                  {"lengths", kOptional}}},
    .num_results = 4,
    .attrs = {{kReverseAttr, StringAttr("activations", "sigmoid tanh"),
               kAlphasAttr, kBetasAttr, kClipAttr,
               BoolAttr("linear_before_reset", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "not implemented: the second derivative of gru",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = RecurrenceShard,
    .samples = Samples,
};

}  // namespace partita
