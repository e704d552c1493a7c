// One step of a GRU's line, forth and back, in double.
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
  std::vector<double> before;  // the hidden state that the step begins with
  std::vector<double> sums;    // what the gates are functions of
  std::vector<double> gates;
  // If the reset comes behind the product, the state's share of the candidate;
  // else the state after the reset, of which that is the product.
  std::vector<double> reset;
  std::vector<double> hidden;
};

class GruCell {
 public:
  explicit GruCell(const OpView& op)
      : functions_(op), e_(op), late_(op.attr_bool("linear_before_reset")) {}

  // From `before` and the inputs' share, which sums hold.
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

  // Takes in `dh` the gradient by the step's hidden state and gives that by
  // `before`; dsums is the gradient by the sums, and `dreset` that by the
  // state's share of the candidate.
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
    std::vector<double> share(e_.width, 0);  // of the candidate alone
    s.reset = s.before;
    for (int64_t u = 0; u < units; ++u) {
      if (!late_) s.reset[u] *= reset[u];
      if (bias != nullptr) share[2 * units + u] = bias[u];
    }
    AddProduct(s.reset.data(), r, e_, 2 * units, e_.width, share.data());
    for (int64_t u = 0; u < units; ++u) {
      if (late_) s.reset[u] = share[2 * units + u];
      s.sums[2 * units + u] += share[2 * units + u] * (late_ ? reset[u] : 1);
    }
  }

  void BackThroughReset(const double* r, const GruStep& s, double* dh,
                        double* dsums, double* dreset) const {
    const int64_t units = e_.units;
    const double* reset = &s.gates[units];
    std::vector<double> share(dsums, dsums + e_.width);  // by it
    std::vector<double> dstate(units, 0);
    for (int64_t u = 0; late_ && u < units; ++u) {
      share[2 * units + u] *= reset[u];
    }
    AddTransposed(share.data(), r, e_, 2 * units, e_.width, dstate.data());
    for (int64_t u = 0; u < units; ++u) {
      const double dgate =
          late_ ? dsums[2 * units + u] * s.reset[u] : dstate[u] * s.before[u];
      dsums[units + u] = dgate * functions_.GateSlope(0, s.sums[units + u]);
      dh[u] += late_ ? dstate[u] : dstate[u] * reset[u];
      dreset[u] = share[2 * units + u];
    }
  }

  GateFunctions functions_;
  RecurrenceExtents e_;
  bool late_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_GRU_CELL_H_
