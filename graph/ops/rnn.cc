// A recurrence of one function over the steps of a sequence, after the product
// of its inputs, and its gradient through time.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/recurrence.h"
#include "graph/ops/recurrent_functions.h"
#include "graph/ops/recurrent_gradient.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr RecurrenceOperands kOperands = {.lengths = 3};
constexpr RecurrenceOperands kGradientOperands = {
    .lengths = 5, .dy = 3, .dlast = 4};

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckRecurrence(op, kOperands));
  PARTITA_RETURN_IF_ERROR(CheckGateFunctions(op, 1));
  return SetRecurrenceResults(op, results, {0}, {1});
}

absl::Status InferGradient(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckRecurrence(op, kGradientOperands));
  PARTITA_RETURN_IF_ERROR(CheckGateFunctions(op, 1));
  PARTITA_RETURN_IF_ERROR(results.Set(0, op.operand_type(0).RowMajor()));
  return SetRecurrenceResults(op, results, {2}, {1});
}

// The arguments of the hidden states' functions.
class Sums {
 public:
  Sums(const OpView& op, absl::Span<const HostTensor> in)
      : e_(op), gates_(in[0]), r_(in[1]), hidden_(in[2]) {}

  std::vector<double> First(const RecurrenceLine& line) {
    return hidden_.CopyOf(line);
  }
  std::vector<double> At(const RecurrenceLine& line, int64_t time,
                         const std::vector<double>& hidden) {
    const double* input = gates_.At(line, time);
    std::vector<double> sums(input, input + e_.units);
    AddProduct(hidden.data(), r_.Of(line.direction), e_, 0, e_.units,
               sums.data());
    return sums;
  }
  // The gradient of the hidden state, from that of the sums.
  std::vector<double> Back(const RecurrenceLine& line, const double* dsums) {
    std::vector<double> dh(e_.units, 0);
    AddTransposed(dsums, r_.Of(line.direction), e_, 0, e_.units, dh.data());
    return dh;
  }

 private:
  RecurrenceExtents e_;
  LineTensor gates_, r_, hidden_;
};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<RecurrenceLine> lines,
                           LinesOf(op, kOperands, in));
  const GateFunctions functions(op);
  Sums sums(op, in);
  LineTensor y(out[0].type()), last(out[1].type());
  for (const RecurrenceLine& line : lines) {
    std::vector<double> hidden = sums.First(line);
    for (int64_t i = 0; i < line.length; ++i) {
      hidden = sums.At(line, line.Time(i), hidden);
      for (double& h : hidden) h = functions.Gate(0, h);
      std::copy(hidden.begin(), hidden.end(), y.At(line, line.Time(i)));
    }
    std::copy(hidden.begin(), hidden.end(), last.State(line));
  }
  y.WriteTo(out[0]);
  last.WriteTo(out[1]);
  return absl::OkStatus();
}

absl::Status EvaluateGradient(const OpView& op, absl::Span<const HostTensor> in,
                              absl::Span<HostTensor> out) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<RecurrenceLine> lines,
                           LinesOf(op, kGradientOperands, in));
  const RecurrenceExtents e(op);
  const GateFunctions functions(op);
  Sums sums(op, in);
  LineTensor dy(in[3]), dlast(in[4]);
  LineTensor dgates(out[0].type()), dhidden(out[1].type());
  LineTensor before(out[2].type());
  for (const RecurrenceLine& line : lines) {
    // Has the sums, then their gradients.
    std::vector<double> hidden = sums.First(line);
    for (int64_t i = 0; i < line.length; ++i) {
      const int64_t t = line.Time(i);
      std::copy(hidden.begin(), hidden.end(), before.At(line, t));
      hidden = sums.At(line, t, hidden);
      std::copy(hidden.begin(), hidden.end(), dgates.At(line, t));
      for (double& h : hidden) h = functions.Gate(0, h);
    }
    std::vector<double> dh = dlast.CopyOf(line);
    for (int64_t i = line.length; i-- > 0;) {
      double* slot = dgates.At(line, line.Time(i));
      for (int64_t u = 0; u < e.units; ++u) {
        slot[u] = (dh[u] + dy.At(line, line.Time(i))[u]) *
                  functions.GateSlope(0, slot[u]);
      }
      dh = sums.Back(line, slot);
    }
    std::copy(dh.begin(), dh.end(), dhidden.State(line));
  }
  dgates.WriteTo(out[0]);
  dhidden.WriteTo(out[1]);
  before.WriteTo(out[2]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) { return RecurrenceCost(op, 1); }
Cost EstimateGradientCost(const OpView& op) { return RecurrenceCost(op, 2); }

DimensionRule Rule(const OpView& op) {
  return RecurrenceRule(op, kOperands, {0}, {1});
}

DimensionRule GradientRule(const OpView& op) {
  return RecurrenceRule(op, kGradientOperands, {0, 2}, {1});
}

absl::Status Gradient(GradBuilder& b) {
  const std::vector<Term> found = BackThroughTime(b, kRnnGradient, 1);
  if (b.needs(1) && b.status().ok()) {
    b.Yield(1, WeightGradient(found[2], found[0]));
  }
  return b.status();
}

std::vector<OpSample> RnnSamples() {
  const SampleOperand lengths = I64({3}, 0, 4);
  const Attributes both = {{"reverse", Ints{0, 1}}};
  return {
      {{F32({4, 3, 2, 3}),
        {DType::kF32, {2, 3, 3}, -0.5, 0.5},
        F32({2, 3, 3}),
        lengths},
       both},
      {{F32({4, 3, 1, 2}), F32({1, 2, 2}), F32({1, 1, 2})},
       {{"activations", "affine"},
        {"alphas", Floats{0.5}},
        {"betas", Floats{0.25}}}},
  };
}

std::vector<OpSample> RnnGradientSamples() {
  const SampleOperand lengths = I64({3}, 0, 4);
  const Attributes both = {{"reverse", Ints{0, 1}}};
  return {{{F32({4, 3, 2, 3}),
            {DType::kF32, {2, 3, 3}, -0.5, 0.5},
            F32({2, 3, 3}),
            F32({4, 3, 2, 3}),
            F32({1, 2, 3, 3}),
            lengths},
           both}};
}

}  // namespace

extern constinit const OpDef kRnn = {
    .name = "rnn",
    .doc =
        "A recurrence over steps: each hidden state is the activation of gates "
        "[steps, batch, directions, units], the input terms, plus the previous "
        "state times r [directions, units, units]; hidden, the initial state, "
        "is [directions, batch or 1, units]. Results: all hidden states, zeros "
        "after a row's length, and the last one.",
    .operands = {{{"gates"}, {"r"}, {"hidden"}, {"lengths", kOptional}}},
    .num_results = 2,
    .attrs = {{kReverseAttr, StringAttr("activations", "tanh"), kAlphasAttr,
               kBetasAttr, kClipAttr}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = RecurrenceShard,
    .samples = RnnSamples,
};

extern constinit const OpDef kRnnGradient = {
    .name = "rnn_gradient",
    .doc =
        "The gradients of an rnn with respect to gates and hidden, where dy "
        "and dlast [1, directions, batch, units] are the gradients of its "
        "results; then the hidden state at the start of each step.",
    .operands = {{{"gates"},
                  {"r"},
                  {"hidden"},
                  {"dy"},
                  {"dlast"},
                  {"lengths", kOptional}}},
    .num_results = 3,
    .attrs = {{kReverseAttr, StringAttr("activations", "tanh"), kAlphasAttr,
               kBetasAttr, kClipAttr}},
    .tolerance = Tolerance::kReduction,
    .infer = InferGradient,
    .eval = EvaluateGradient,
    .no_gradient = "not implemented: the second derivative of rnn",
    .cost = EstimateGradientCost,
    .dimension_rule = GradientRule,
    .shard_attributes = RecurrenceShard,
    .samples = RnnGradientSamples,
};

}  // namespace partita
