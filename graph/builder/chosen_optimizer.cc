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
  void (*update)(const Step& step, const OptimizerOptions& options);
};

constexpr NamedOptimizer kOptimizers[] = {
    {"sgd", true,
     [](const Step& step, const OptimizerOptions& options) {
       Sgd(step.parameters, step.learning_rate,
           {.momentum = options.momentum,
            .weight_decay = options.weight_decay,
            .nesterov = options.nesterov},
           step.site);
     }},
    {"adam", false,
     [](const Step& step, const OptimizerOptions& options) {
       Adam(step.parameters, step.learning_rate, step.count,
            {.weight_decay = options.weight_decay}, step.site);
     }},
    {"adamw", false,
     [](const Step& step, const OptimizerOptions& options) {
       AdamW(step.parameters, step.learning_rate, step.count,
             {.weight_decay = options.weight_decay}, step.site);
     }},
    {"adagrad", false,
     [](const Step& step, const OptimizerOptions& options) {
       Adagrad(step.parameters, step.learning_rate,
               {.weight_decay = options.weight_decay}, step.site);
     }},
    {"rmsprop", true,
     [](const Step& step, const OptimizerOptions& options) {
       RmsProp(
           step.parameters, step.learning_rate,
           {.momentum = options.momentum, .weight_decay = options.weight_decay},
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
                      const OptimizerOptions& options, CallSite site) {
  const NamedOptimizer* found = Find(options.name);
  if (found == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("optimizer: found ", options.name, "; expected one of ",
                     absl::StrJoin(OptimizerNames(), ", ")));
  }
  if (options.nesterov && (options.name != "sgd" || options.momentum == 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "nesterov: found optimizer ", options.name, " with momentum ",
        options.momentum, "; expected sgd with a momentum above 0"));
  }
  found->update({.parameters = parameters,
                 .learning_rate = learning_rate,
                 .count = step,
                 .site = site},
                options);
  return absl::OkStatus();
}

}  // namespace partita
