// One step of a GRU's line, forward and backward, in double.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_GRU_CELL_H_
#define PARTITA_GRAPH_OPS_GRU_CELL_H_

#include <cstdint>
#include <vector>

#include "graph/op_def.h"
#include "graph/ops/recurrence.h"
#include "graph/ops/recurrent_functions.h"

namespace partita {

// Gates [3 units] are in the order update, reset, candidate.
struct GruStep {
  std::vector<double> before;  // the hidden state before the step
  std::vector<double> sums;    // the arguments of the gates' functions
  std::vector<double> gates;
  // With the reset after the product, the state's term of the candidate;
  // otherwise the state after the reset, which enters the product.
  std::vector<double> reset;
  std::vector<double> hidden;
};

class GruCell {
 public:
  explicit GruCell(const OpView& op)
      : functions_(op), e_(op), late_(op.attr_bool("linear_before_reset")) {}

  // Computes the step from `before` and the input terms in `sums`.
  void Forth(const double* r, const double* bias, GruStep& s) const {
    const int64_t units = e_.units;
    s.gates.resize(s.sums.size());
    s.hidden.resize(units);
    AddProduct(s.before.data(), r, e_, 0, 2 * units, s.sums.data());
    for (int64_t i = 0; i < 2 * units; ++i) {
      s.gates[i] = functions_.Gate(0, s.sums[i]);
    }
    AddCandidate(r, bias, s);
    for (int64_t u = 0; u < units; ++u) {
      const double candidate = functions_.Gate(1, s.sums[2 * units + u]);
      s.gates[2 * units + u] = candidate;
      s.hidden[u] = (1 - s.gates[u]) * candidate + s.gates[u] * s.before[u];
    }
  }

  // `dh` is the gradient of the step's hidden state, and becomes that of
  // `before`. `dsums` is the gradient of the sums, and `dreset` that of the
  // state's term of the candidate.
  void Back(const double* r, const GruStep& s, double* dh, double* dsums,
            double* dreset) const {
    const int64_t units = e_.units;
    for (int64_t u = 0; u < units; ++u) {
      const double update = s.gates[u];
      const double dupdate = dh[u] * (s.before[u] - s.gates[2 * units + u]);
      dsums[u] = dupdate * functions_.GateSlope(0, s.sums[u]);
      dsums[2 * units + u] =
          dh[u] * (1 - update) * functions_.GateSlope(1, s.sums[2 * units + u]);
      dh[u] *= update;
    }
    BackThroughReset(r, s, dh, dsums, dreset);
    AddTransposed(dsums, r, e_, 0, 2 * units, dh);
  }

  bool late() const { return late_; }

 private:
  void AddCandidate(const double* r, const double* bias, GruStep& s) const {
    const int64_t units = e_.units;
    const double* reset = &s.gates[units];
    std::vector<double> term(e_.width, 0);  // of the candidate alone
    s.reset = s.before;
    for (int64_t u = 0; u < units; ++u) {
      if (!late_) s.reset[u] *= reset[u];
      if (bias != nullptr) term[2 * units + u] = bias[u];
    }
    AddProduct(s.reset.data(), r, e_, 2 * units, e_.width, term.data());
    for (int64_t u = 0; u < units; ++u) {
      if (late_) s.reset[u] = term[2 * units + u];
      s.sums[2 * units + u] += term[2 * units + u] * (late_ ? reset[u] : 1);
    }
  }

  void BackThroughReset(const double* r, const GruStep& s, double* dh,
                        double* dsums, double* dreset) const {
    const int64_t units = e_.units;
    const double* reset = &s.gates[units];
    std::vector<double> term(dsums, dsums + e_.width);  // by it
    std::vector<double> dstate(units, 0);
    for (int64_t u = 0; late_ && u < units; ++u) {
      term[2 * units + u] *= reset[u];
    }
    AddTransposed(term.data(), r, e_, 2 * units, e_.width, dstate.data());
    for (int64_t u = 0; u < units; ++u) {
      const double dgate =
          late_ ? dsums[2 * units + u] * s.reset[u] : dstate[u] * s.before[u];
      dsums[units + u] = dgate * functions_.GateSlope(0, s.sums[units + u]);
      dh[u] += late_ ? dstate[u] : dstate[u] * reset[u];
      dreset[u] = term[2 * units + u];
    }
  }

  GateFunctions functions_;
  RecurrenceExtents e_;
  bool late_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_GRU_CELL_H_
