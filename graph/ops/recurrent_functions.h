// The functions of gates, as named by a recurrence's attributes.
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

// The function of a name such as "sigmoid" or "hard_sigmoid"; null if there is
// none.
const GateFunction* FindGateFunction(absl::string_view name);
// A list of all names, for messages.
std::string GateFunctionNames();

// Checks the attributes `activations` (a name for each of `count` functions),
// `alphas` and `betas` (a number for each function, or none at all) and `clip`.
absl::Status CheckGateFunctions(const OpView& op, int count);

// Needs: CheckGateFunctions has passed.
class GateFunctions {
 public:
  explicit GateFunctions(const OpView& op);

  // The value of function `i` at x.
  double Value(int i, double x) const;
  double Slope(int i, double x) const;
  // The same for a gate, whose argument is clipped to `clip` first.
  double Gate(int i, double x) const;
  double GateSlope(int i, double x) const;

 private:
  struct Function {
    const GateFunction* function;
    double alpha;
    double beta;
  };
  std::vector<Function> functions_;
  double clip_;  // infinity: no clipping
};

// The attributes of every recurrence after `activations`.
constexpr AttrDef kReverseAttr = IntsAttr("reverse");
constexpr AttrDef kAlphasAttr = FloatsAttr("alphas");
constexpr AttrDef kBetasAttr = FloatsAttr("betas");
constexpr AttrDef kClipAttr = FloatAttr("clip", 0);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RECURRENT_FUNCTIONS_H_
