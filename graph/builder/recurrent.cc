// Unrolled recurrences.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/recurrent.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"

namespace partita {
namespace {

constexpr MatMulOptions kByRows = {.transpose_b = true};

bool IsSequence(Tensor x, Tensor hidden) {
  if (!x.valid() || !hidden.valid()) return false;
  if (x.rank() == 3 && x.dim(0) > 0 && hidden.rank() == 2) return true;
  x.builder()->Fail(
      absl::StrCat("recurrent: found x ", x.type().ToString(), " and a state ",
                   hidden.type().ToString(),
                   "; expected [time, n, features] of one time step or "
                   "more, and [n, h]; reshape them"));
  return false;
}

// The input terms of all gates at all time steps, in one product. Its gradients
// sum over rows of all examples and time steps. Examples come first, so that
// rows of a micro-batch are contiguous.
Tensor InputTerms(Tensor x, const RecurrentWeights& w) {
  const Tensor by_example = Transpose(x, {1, 0, 2});
  const Tensor terms = Add(MatMul(by_example, w.input, kByRows), w.input_bias);
  return Transpose(terms, {1, 0, 2});
}

Tensor HiddenTerms(Tensor hidden, const RecurrentWeights& w) {
  return Add(MatMul(hidden, w.hidden, kByRows), w.hidden_bias);
}

// Time step t of [time, n, units] as [n, units].
Tensor TimeStep(Tensor x, int64_t t) {
  if (!x.valid()) return {};
  return Reshape(Slice(x, 0, t, 1), {x.dim(1), x.dim(2)});
}

// Gate i of [n, g h].
Tensor Gate(Tensor gates, int64_t i, int64_t units) {
  return Slice(gates, 1, i * units, units);
}

Tensor Stacked(const std::vector<Tensor>& steps) {
  std::vector<Tensor> slabs;
  for (const Tensor& step : steps) {
    if (!step.valid()) return {};
    slabs.push_back(Reshape(step, {1, step.dim(0), step.dim(1)}));
  }
  return Concat(slabs, 0);
}

}  // namespace

RecurrentResult Rnn(Tensor x, Tensor hidden, const RecurrentWeights& weights,
                    CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!IsSequence(x, hidden)) return {};
  const Tensor inputs = InputTerms(x, weights);
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < x.dim(0); ++t) {
    hidden = Tanh(TimeStep(inputs, t) + HiddenTerms(hidden, weights));
    outputs.push_back(hidden);
  }
  return {Stacked(outputs), hidden, {}};
}

RecurrentResult Lstm(Tensor x, Tensor hidden, Tensor cell,
                     const RecurrentWeights& weights, CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!IsSequence(x, hidden)) return {};
  const int64_t units = hidden.dim(1);
  const Tensor inputs = InputTerms(x, weights);
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < x.dim(0); ++t) {
    const Tensor gates = TimeStep(inputs, t) + HiddenTerms(hidden, weights);
    const Tensor input = Sigmoid(Gate(gates, 0, units));
    const Tensor forget = Sigmoid(Gate(gates, 1, units));
    const Tensor fresh = Tanh(Gate(gates, 2, units));
    const Tensor output = Sigmoid(Gate(gates, 3, units));
    cell = forget * cell + input * fresh;
    hidden = output * Tanh(cell);
    outputs.push_back(hidden);
  }
  return {Stacked(outputs), hidden, cell};
}

RecurrentResult Gru(Tensor x, Tensor hidden, const RecurrentWeights& weights,
                    CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!IsSequence(x, hidden)) return {};
  const int64_t units = hidden.dim(1);
  const Tensor inputs = InputTerms(x, weights);
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < x.dim(0); ++t) {
    const Tensor from_x = TimeStep(inputs, t);
    const Tensor from_h = HiddenTerms(hidden, weights);
    const auto gate = [&](int64_t i) {
      return Gate(from_x, i, units) + Gate(from_h, i, units);
    };
    const Tensor reset = Sigmoid(gate(0));
    const Tensor update = Sigmoid(gate(1));
    const Tensor fresh =
        Tanh(Gate(from_x, 2, units) + reset * Gate(from_h, 2, units));
    hidden = fresh + update * (hidden - fresh);
    outputs.push_back(hidden);
  }
  return {Stacked(outputs), hidden, {}};
}

}  // namespace partita
