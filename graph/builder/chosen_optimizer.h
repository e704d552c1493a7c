// An optimizer that is chosen by its name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_CHOSEN_OPTIMIZER_H_
#define PARTITA_GRAPH_BUILDER_CHOSEN_OPTIMIZER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/builder/graph_builder.h"

namespace partita {

struct OptimizerOptions {
  std::string name = "sgd";  // of OptimizerNames()
  double momentum = 0;       // for optimizers with TakesMomentum
  double weight_decay = 0;
  bool nesterov = false;  // for "sgd" with momentum above 0
};

// "sgd", "adam", "adamw", "adagrad", "rmsprop" (optimizers.h).
std::vector<std::string> OptimizerNames();
bool TakesMomentum(absl::string_view name);

// Updates the parameters. The rate is a scalar, `step` counts from 0.
// InvalidArgument, and no update, for an unknown optimizer, or for Nesterov's
// momentum with an optimizer that does not support it.
absl::Status Optimize(absl::Span<const Parameter> parameters,
                      Tensor learning_rate, Tensor step,
                      const OptimizerOptions& options,
                      CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_CHOSEN_OPTIMIZER_H_
