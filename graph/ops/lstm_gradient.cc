// The gradient of an LSTM through time; recomputes the steps.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "graph/ops/lstm_cell.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr RecurrenceOperands kOperands = {.gates_per_unit = 4,
                                          .cell = 3,
                                          .peepholes = 7,
                                          .lengths = 6,
                                          .dy = 4,
                                          .dlast = 5,
                                          .states = 2};

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckRecurrence(op, kOperands));
  PARTITA_RETURN_IF_ERROR(CheckGateFunctions(op, 3));
  const RecurrenceExtents e(op);
  const DType dtype = op.operand_type(0).dtype;
  Shape seen = e.HiddenDims();
  seen[3] *= op.num_operands() > kOperands.peepholes ? 3 : 0;
  PARTITA_RETURN_IF_ERROR(results.Set(0, op.operand_type(0).RowMajor()));
  PARTITA_RETURN_IF_ERROR(SetRecurrenceResults(op, results, {3}, {1, 2}));
  return results.Set(4, {dtype, seen, {}});
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
        cells_(in[3]),
        dy_(in[4]),
        dlast_(in[5]),
        peepholes_(in.size() > 7 ? in[7] : in[1]),
        has_peepholes_(in.size() > 7),
        dgates_(out[0].type()),
        dhidden_(out[1].type()),
        dcell_(out[2].type()),
        before_(out[3].type()),
        seen_(out[4].type()) {}

  void Run(const RecurrenceLine& line) {
    Recompute(line);
    std::vector<double> dh = dlast_.CopyOf(line, 0);
    std::vector<double> dc = dlast_.CopyOf(line, 1);
    for (int64_t i = line.length; i-- > 0;) {
      const double* dy = dy_.At(line, line.Time(i));
      for (int64_t u = 0; u < e_.units; ++u) dh[u] += dy[u];
      double* dsums = dgates_.At(line, line.Time(i));
      cell_.Back(PeepholesOf(line), steps_[i], dh.data(), dc.data(), dsums);
      std::fill(dh.begin(), dh.end(), 0);
      AddTransposed(dsums, r_.Of(line.direction), e_, 0, e_.width, dh.data());
    }
    std::copy(dh.begin(), dh.end(), dhidden_.State(line));
    std::copy(dc.begin(), dc.end(), dcell_.State(line));
  }

  void WriteTo(absl::Span<HostTensor> out) const {
    dgates_.WriteTo(out[0]);
    dhidden_.WriteTo(out[1]);
    dcell_.WriteTo(out[2]);
    before_.WriteTo(out[3]);
    seen_.WriteTo(out[4]);
  }

 private:
  const double* PeepholesOf(const RecurrenceLine& line) {
    return has_peepholes_ ? peepholes_.Of(line.direction) : nullptr;
  }

  void Recompute(const RecurrenceLine& line) {
    steps_.assign(line.length, {});
    std::vector<double> hidden = hidden_.CopyOf(line);
    std::vector<double> cell = cells_.CopyOf(line);
    for (int64_t i = 0; i < line.length; ++i) {
      LstmStep& s = steps_[i];
      const double* input = gates_.At(line, line.Time(i));
      s.sums.assign(input, input + e_.width);
      AddProduct(hidden.data(), r_.Of(line.direction), e_, 0, e_.width,
                 s.sums.data());
      std::copy(hidden.begin(), hidden.end(), before_.At(line, line.Time(i)));
      s.cell_before = cell;
      cell_.Forth(PeepholesOf(line), s);
      if (has_peepholes_) KeepSeen(s, seen_.At(line, line.Time(i)));
      hidden = s.hidden;
      cell = s.cell;
    }
  }

  // The cells that the peepholes of input, output and forget gate read.
  static void KeepSeen(const LstmStep& s, double* seen) {
    seen = std::copy(s.cell_before.begin(), s.cell_before.end(), seen);
    seen = std::copy(s.cell.begin(), s.cell.end(), seen);
    std::copy(s.cell_before.begin(), s.cell_before.end(), seen);
  }

  RecurrenceExtents e_;
  LstmCell cell_;
  LineTensor gates_, r_, hidden_, cells_, dy_, dlast_, peepholes_;
  bool has_peepholes_;
  LineTensor dgates_, dhidden_, dcell_, before_, seen_;
  std::vector<LstmStep> steps_;  // of the line
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
  return RecurrenceRule(op, kOperands, {0, 3, 4}, {1, 2});
}

std::vector<OpSample> Samples() {
  const SampleOperand lengths = I64({3}, 0, 4);
  const SampleOperand small = {DType::kF32, {2, 3, 12}, -0.5, 0.5};
  const Attributes both = {{"reverse", Ints{0, 1}}};
  return {
      {{F32({4, 3, 2, 12}), small, F32({2, 3, 3}), F32({2, 1, 3}),
        F32({4, 3, 2, 3}), F32({2, 2, 3, 3})},
       both},
      {{F32({4, 3, 2, 12}), small, F32({2, 1, 3}), F32({2, 3, 3}),
        F32({4, 3, 2, 3}), F32({2, 2, 3, 3}), lengths, F32({2, 9})},
       both},
  };
}

}  // namespace

extern constinit const OpDef kLstmGradient = {
    .name = "lstm_gradient",
    .doc =
        "The gradients of an lstm with respect to gates, hidden and cell, "
        "where dy and dlast [2, directions, batch, units] (of the last hidden "
        "and the last cell) are the gradients of its results; then the hidden "
        "state at the start of each step, and the cells that the peepholes "
        "read, if there are peepholes.",
    .operands = {{{"gates"},
                  {"r"},
                  {"hidden"},
                  {"cell"},
                  {"dy"},
                  {"dlast"},
                  {"lengths", kOptional},
                  {"peepholes", kOptional}}},
    .num_results = 5,
    .attrs = {{kReverseAttr, StringAttr("activations", "sigmoid tanh tanh"),
               kAlphasAttr, kBetasAttr, kClipAttr,
               BoolAttr("input_forget", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "not implemented: the second derivative of lstm",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = RecurrenceShard,
    .samples = Samples,
};

}  // namespace partita
