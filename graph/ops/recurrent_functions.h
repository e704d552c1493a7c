// The functions of gates: what a recurrence's attributes name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RECURRENT_FUNCTIONS_H_
#define PARTITA_GRAPH_OPS_RECURRENT_FUNCTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/op_def.h"

namespace partita {

// One function of numbers with up to two parameters.
struct GateFunction {
  const char* name;
  int parameters;  // alpha, or alpha and beta
  bool has_defaults;
  double alpha;
  double beta;
  double (*value)(double x, double alpha, double beta);
  double (*slope)(double x, double alpha, double beta);
};

// Null if there is none of the name: "sigmoid", "hard_sigmoid".
const GateFunction* FindGateFunction(absl::string_view name);
// All names, one behind the other, for messages.
std::string GateFunctionNames();

// Attributes `activations`, a name for each of `count` functions, `alphas` and
// `betas`, a number for each function or none at all, and `clip`.
absl::Status CheckGateFunctions(const OpView& op, int count);

// After CheckGateFunctions.
class GateFunctions {
 public:
  explicit GateFunctions(const OpView& op);

  // Of function `i`, of x as it is.
  double Value(int i, double x) const;
  double Slope(int i, double x) const;
  // The same of a gate, which is bounded by `clip` before.
  double Gate(int i, double x) const;
  double GateSlope(int i, double x) const;

 private:
  struct Function {
    const GateFunction* function;
    double alpha;
    double beta;
  };
  std::vector<Function> functions_;
  double clip_;  // infinity where there is none
};

// The attributes that every recurrence has, after `activations`.
constexpr AttrDef kReverseAttr = IntsAttr("reverse");
constexpr AttrDef kAlphasAttr = FloatsAttr("alphas");
constexpr AttrDef kBetasAttr = FloatsAttr("betas");
constexpr AttrDef kClipAttr = FloatAttr("clip", 0);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RECURRENT_FUNCTIONS_H_
