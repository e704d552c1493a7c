// The functions that the ONNX standard names for its recurrent ops.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/recurrent_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/ops/op_checks.h"

namespace partita {
namespace {

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

constexpr GateFunction kFunctions[] = {
    {"sigmoid", 0, true, 0, 0,
     [](double x, double, double) { return Logistic(x); },
     [](double x, double, double) { return Logistic(x) * Logistic(-x); }},
    {"tanh", 0, true, 0, 0,
     [](double x, double, double) { return std::tanh(x); },
     [](double x, double, double) { return 1 - std::tanh(x) * std::tanh(x); }},
    {"relu", 0, true, 0, 0,
     [](double x, double, double) { return x < 0 ? 0 : x; },
     [](double x, double, double) { return x > 0 ? 1.0 : 0.0; }},
    {"affine", 2, false, 0, 0,
     [](double x, double a, double b) { return a * x + b; },
     [](double, double a, double) { return a; }},
    {"leaky_relu", 1, true, 0.01, 0,
     [](double x, double a, double) { return x < 0 ? a * x : x; },
     [](double x, double a, double) { return x < 0 ? a : 1.0; }},
    {"thresholded_relu", 1, true, 1, 0,
     [](double x, double a, double) { return x <= a ? 0 : x; },
     [](double x, double a, double) { return x <= a ? 0.0 : 1.0; }},
    {"scaled_tanh", 2, false, 0, 0,
     [](double x, double a, double b) { return a * std::tanh(b * x); },
     [](double x, double a, double b) {
       return a * b * (1 - std::tanh(b * x) * std::tanh(b * x));
     }},
    {"hard_sigmoid", 2, true, 0.2, 0.5,
     [](double x, double a, double b) {
       const double y = a * x + b;
       return y < 0 ? 0.0 : y > 1 ? 1.0 : y;
     },
     [](double x, double a, double b) {
       const double y = a * x + b;
       return y > 0 && y < 1 ? a : 0.0;
     }},
    {"elu", 1, true, 1, 0,
     [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; },
     [](double x, double a, double) { return x < 0 ? a * std::exp(x) : 1.0; }},
    {"softsign", 0, true, 0, 0,
     [](double x, double, double) { return x / (1 + std::fabs(x)); },
     [](double x, double, double) {
       return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x)));
     }},
    {"softplus", 0, true, 0, 0,
     [](double x, double, double) {
       return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
     },
     [](double x, double, double) { return Logistic(x); }}};

std::vector<std::string> NamesOf(const OpView& op) {
  return absl::StrSplit(op.attr_string("activations"), ' ');
}

absl::Status CheckParameters(const OpView& op, const char* attr, int count) {
  const size_t given = op.attr_floats(attr).size();
  if (given == 0 || given == static_cast<size_t>(count)) {
    return absl::OkStatus();
  }
  return BadOp(op, absl::StrCat(given, " ", attr),
               absl::StrCat("none, or ", count,
                            ": one for each activation, 0 for one that needs "
                            "none"),
               "correct the list");
}

absl::Status CheckNames(const OpView& op, int count) {
  const std::vector<std::string> names = NamesOf(op);
  bool known = names.size() == static_cast<size_t>(count);
  for (const std::string& name : names) {
    known = known && FindGateFunction(name) != nullptr;
  }
  if (known) return absl::OkStatus();
  return BadOp(
      op, absl::StrCat("activations \"", op.attr_string("activations"), "\""),
      absl::StrCat(count, " of ", GateFunctionNames()),
      "name them with one space between");
}

}  // namespace

const GateFunction* FindGateFunction(absl::string_view name) {
  for (const GateFunction& function : kFunctions) {
    if (name == function.name) return &function;
  }
  return nullptr;
}

std::string GateFunctionNames() {
  return absl::StrJoin(kFunctions, ", ",
                       [](std::string* out, const GateFunction& function) {
                         absl::StrAppend(out, function.name);
                       });
}

absl::Status CheckGateFunctions(const OpView& op, int count) {
  PARTITA_RETURN_IF_ERROR(CheckNames(op, count));
  PARTITA_RETURN_IF_ERROR(CheckParameters(op, "alphas", count));
  PARTITA_RETURN_IF_ERROR(CheckParameters(op, "betas", count));
  for (const std::string& name : NamesOf(op)) {
    if (FindGateFunction(name)->parameters == 0) continue;
    if (!op.attr_floats("alphas").empty() && !op.attr_floats("betas").empty()) {
      continue;
    }
    return BadOp(op, absl::StrCat(name, " without alphas and betas"),
                 "a number in each for every activation",
                 "give both lists, with 0 for what is not used");
  }
  return absl::OkStatus();
}

GateFunctions::GateFunctions(const OpView& op)
    : clip_(op.attr_float("clip") > 0
                ? op.attr_float("clip")
                : std::numeric_limits<double>::infinity()) {
  const std::vector<double>& alphas = op.attr_floats("alphas");
  const std::vector<double>& betas = op.attr_floats("betas");
  for (const std::string& name : NamesOf(op)) {
    const size_t i = functions_.size();
    functions_.push_back({FindGateFunction(name),
                          alphas.empty() ? 0 : alphas[i],
                          betas.empty() ? 0 : betas[i]});
  }
}

double GateFunctions::Value(int i, double x) const {
  return functions_[i].function->value(x, functions_[i].alpha,
                                       functions_[i].beta);
}

double GateFunctions::Slope(int i, double x) const {
  return functions_[i].function->slope(x, functions_[i].alpha,
                                       functions_[i].beta);
}

double GateFunctions::Gate(int i, double x) const {
  return Value(i, x < -clip_ ? -clip_ : x > clip_ ? clip_ : x);
}

double GateFunctions::GateSlope(int i, double x) const {
  return std::fabs(x) > clip_ ? 0 : Slope(i, x);
}

}  // namespace partita
