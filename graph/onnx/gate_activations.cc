// Looks up the standard's names; numbers go to the activations that take them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/gate_activations.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "graph/ops/recurrent_functions.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// "ScaledTanh" is scaled_tanh; as in the standard, case does not matter.
const GateFunction* FindByOnnxName(const std::string& name) {
  for (const char* known :
       {"Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh",
        "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"}) {
    if (absl::AsciiStrToLower(known) != absl::AsciiStrToLower(name)) continue;
    std::string ours;
    for (const char* c = known; *c != '\0'; ++c) {
      if (c != known && absl::ascii_isupper(*c)) ours += '_';
      ours += absl::ascii_tolower(*c);
    }
    return FindGateFunction(ours);
  }
  return nullptr;
}

// The numbers of activation_alpha or activation_beta: each goes to the next
// activation that takes one.
class Parameters {
 public:
  Parameters(NodeImport& node, const char* name)
      : name_(name), values_(node.FloatList(name)) {}

  double Next(double otherwise) {
    ++taken_;
    return left() ? values_[taken_ - 1] : otherwise;
  }
  bool left() const { return taken_ <= values_.size(); }

  // After all activations.
  absl::Status Check(const NodeImport& node) const {
    if (taken_ == 0 || values_.size() <= taken_) return absl::OkStatus();
    return node.Invalid(absl::StrCat(values_.size(), " ", name_),
                        absl::StrCat("at most ", taken_,
                                     ": one for each activation that takes "
                                     "one"));
  }

 private:
  const char* name_;
  std::vector<double> values_;
  size_t taken_ = 0;
};

absl::StatusOr<GateActivation> ReadActivation(const NodeImport& node,
                                              const std::string& name,
                                              Parameters& alphas,
                                              Parameters& betas) {
  const GateFunction* function = FindByOnnxName(name);
  if (function == nullptr) {
    return node.Unsupported(
        absl::StrCat("activation \"", absl::CHexEscape(name), "\""),
        "Affine, Elu, HardSigmoid, LeakyRelu, Relu, ScaledTanh, Sigmoid, "
        "Softplus, Softsign, Tanh or ThresholdedRelu");
  }
  GateActivation activation{function->name};
  bool given = true;
  if (function->parameters > 0) {
    activation.alpha = alphas.Next(function->alpha);
    given = alphas.left();
  }
  if (function->parameters > 1) {
    activation.beta = betas.Next(function->beta);
    given = given && betas.left();
  }
  if (given || function->has_defaults) return activation;
  return node.Invalid(
      absl::StrCat(name, " without activation_alpha and activation_beta"),
      "a number in each");
}

absl::StatusOr<std::vector<std::string>> ReadNames(
    NodeImport& node, const std::vector<std::string>& defaults,
    int64_t directions) {
  std::vector<std::string> names = node.StringList("activations");
  const bool by_default = names.empty();
  for (int64_t d = 0; by_default && d < directions; ++d) {
    names.insert(names.end(), defaults.begin(), defaults.end());
  }
  const size_t expected = defaults.size() * directions;
  // An RNN's default names both directions, even if there is one.
  const bool spare = defaults.size() == 1 && names.size() == 2;
  if (names.size() != expected && !spare) {
    return node.Invalid(
        absl::StrCat(names.size(), " activations"),
        absl::StrCat(expected, ", ", defaults.size(), " for each direction"));
  }
  names.resize(expected);
  return names;
}

}  // namespace

absl::StatusOr<std::vector<GateActivation>> ReadGateActivations(
    NodeImport& node, const std::vector<std::string>& defaults,
    int64_t directions) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           ReadNames(node, defaults, directions));
  Parameters alphas(node, "activation_alpha");
  Parameters betas(node, "activation_beta");
  std::vector<GateActivation> activations;
  for (const std::string& name : names) {
    PARTITA_ASSIGN_OR_RETURN(GateActivation activation,
                             ReadActivation(node, name, alphas, betas));
    activations.push_back(std::move(activation));
  }
  PARTITA_RETURN_IF_ERROR(alphas.Check(node));
  PARTITA_RETURN_IF_ERROR(betas.Check(node));
  return activations;
}

}  // namespace partita
