// Calls an optimizer by name.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/chosen_optimizer.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/optimizers.h"

namespace partita {
namespace {

struct Step {
  absl::Span<const Parameter> parameters;
  Tensor learning_rate;
  Tensor count;
  CallSite site;
};

struct NamedOptimizer {
  const char* name;
  bool takes_momentum;
  void (*update)(const Step& step, const OptimizerChoice& choice);
};

constexpr NamedOptimizer kOptimizers[] = {
    {"sgd", true,
     [](const Step& step, const OptimizerChoice& choice) {
       Sgd(step.parameters, step.learning_rate,
           {.momentum = choice.momentum,
            .weight_decay = choice.weight_decay,
            .nesterov = choice.nesterov},
           step.site);
     }},
    {"adam", false,
     [](const Step& step, const OptimizerChoice& choice) {
       Adam(step.parameters, step.learning_rate, step.count,
            {.weight_decay = choice.weight_decay}, step.site);
     }},
    {"adamw", false,
     [](const Step& step, const OptimizerChoice& choice) {
       AdamW(step.parameters, step.learning_rate, step.count,
             {.weight_decay = choice.weight_decay}, step.site);
     }},
    {"adagrad", false,
     [](const Step& step, const OptimizerChoice& choice) {
       Adagrad(step.parameters, step.learning_rate,
               {.weight_decay = choice.weight_decay}, step.site);
     }},
    {"rmsprop", true,
     [](const Step& step, const OptimizerChoice& choice) {
       RmsProp(
           step.parameters, step.learning_rate,
           {.momentum = choice.momentum, .weight_decay = choice.weight_decay},
           step.site);
     }},
};

const NamedOptimizer* Find(absl::string_view name) {
  const auto* found = absl::c_find_if(
      kOptimizers, [&](const NamedOptimizer& one) { return one.name == name; });
  return found == std::end(kOptimizers) ? nullptr : found;
}

}  // namespace

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const NamedOptimizer& one : kOptimizers) names.push_back(one.name);
  return names;
}

bool TakesMomentum(absl::string_view name) {
  const NamedOptimizer* found = Find(name);
  return found != nullptr && found->takes_momentum;
}

absl::Status Optimize(absl::Span<const Parameter> parameters,
                      Tensor learning_rate, Tensor step,
                      const OptimizerChoice& choice, CallSite site) {
  const NamedOptimizer* found = Find(choice.name);
  if (found == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("optimizer: found ", choice.name, "; expected one of ",
                     absl::StrJoin(OptimizerNames(), ", ")));
  }
  if (choice.nesterov && (choice.name != "sgd" || choice.momentum == 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "nesterov: found optimizer ", choice.name, " with momentum ",
        choice.momentum, "; expected sgd with a momentum above 0"));
  }
  found->update({.parameters = parameters,
                 .learning_rate = learning_rate,
                 .count = step,
                 .site = site},
                choice);
  return absl::OkStatus();
}

}  // namespace partita
