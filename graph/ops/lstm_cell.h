// One step of an LSTM's line, forward and backward, in double.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_LSTM_CELL_H_
#define PARTITA_GRAPH_OPS_LSTM_CELL_H_

#include <cstdint>
#include <vector>

#include "graph/op_def.h"
#include "graph/ops/recurrence.h"
#include "graph/ops/recurrent_functions.h"

namespace partita {

// The states before a step, its gates [4 units] in the order input, output,
// forget, candidate, and the states after it.
struct LstmStep {
  std::vector<double> sums;  // the arguments of the gates' functions
  std::vector<double> gates;
  std::vector<double> cell_before, cell, hidden;
};

class LstmCell {
 public:
  explicit LstmCell(const OpView& op)
      : functions_(op),
        units_(RecurrenceExtents(op).units),
        coupled_(op.attr_bool("input_forget")) {}

  // Computes the step from `cell_before` and `sums`, to which this adds the
  // optional peepholes [3 units] (input, output, forget).
  void Forth(const double* peepholes, LstmStep& s) const {
    s.gates.resize(s.sums.size());
    s.cell.resize(units_);
    s.hidden.resize(units_);
    for (int64_t u = 0; u < units_; ++u) Forth(peepholes, u, s);
  }

  // `dh` is the gradient of the step's hidden state, `dc` that of its cell
  // without the part through `dh`. Computes the gradient of the sums, and sets
  // `dc` to that of cell_before.
  void Back(const double* peepholes, const LstmStep& s, const double* dh,
            double* dc, double* dsums) const {
    for (int64_t u = 0; u < units_; ++u) {
      Back(peepholes, u, s, dh[u], dc[u], dsums);
    }
  }

 private:
  enum Gate : int64_t { kInput, kOutput, kForget, kCandidate };
  enum Function : int { kOfGates, kOfCandidate, kOfCell };

  int64_t At(Gate gate, int64_t u) const { return gate * units_ + u; }

  // The gate's function of its sum; a peephole adds `cell`.
  double Open(Gate gate, const double* peepholes, double cell, int64_t u,
              LstmStep& s) const {
    double& sum = s.sums[At(gate, u)];
    if (peepholes != nullptr) sum += peepholes[At(gate, u)] * cell;
    return s.gates[At(gate, u)] = functions_.Gate(kOfGates, sum);
  }

  void Forth(const double* peepholes, int64_t u, LstmStep& s) const {
    const double before = s.cell_before[u];
    const double input = Open(kInput, peepholes, before, u, s);
    const double forget = coupled_ ? s.gates[At(kForget, u)] = 1 - input
                                   : Open(kForget, peepholes, before, u, s);
    const double candidate = s.gates[At(kCandidate, u)] =
        functions_.Gate(kOfCandidate, s.sums[At(kCandidate, u)]);
    s.cell[u] = forget * before + input * candidate;
    s.hidden[u] = Open(kOutput, peepholes, s.cell[u], u, s) *
                  functions_.Value(kOfCell, s.cell[u]);
  }

  void Back(const double* peepholes, int64_t u, const LstmStep& s, double dh,
            double& dc, double* dsums) const {
    const auto gate = [&](Gate g) { return s.gates[At(g, u)]; };
    const auto slope = [&](Gate g) {
      return functions_.GateSlope(g == kCandidate ? kOfCandidate : kOfGates,
                                  s.sums[At(g, u)]);
    };
    const auto peephole = [&](Gate g) {
      return peepholes == nullptr ? 0 : peepholes[At(g, u)] * dsums[At(g, u)];
    };
    dsums[At(kOutput, u)] =
        dh * functions_.Value(kOfCell, s.cell[u]) * slope(kOutput);
    dc += dh * gate(kOutput) * functions_.Slope(kOfCell, s.cell[u]) +
          peephole(kOutput);
    const double dforget = dc * s.cell_before[u];
    const double dinput = dc * gate(kCandidate) - (coupled_ ? dforget : 0);
    dsums[At(kInput, u)] = dinput * slope(kInput);
    dsums[At(kForget, u)] = coupled_ ? 0 : dforget * slope(kForget);
    dsums[At(kCandidate, u)] = dc * gate(kInput) * slope(kCandidate);
    dc = dc * gate(kForget) + peephole(kInput) + peephole(kForget);
  }

  GateFunctions functions_;
  int64_t units_;
  bool coupled_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_LSTM_CELL_H_
