// Gradients, clipping, learning rate, optimizer.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/update_rule.h"

#include <utility>
#include <vector>

#include "graph/builder/parameter_gradients.h"
#include "graph/status_macros.h"

namespace partita {

absl::Status Minimize(GraphBuilder& b, Tensor loss, Tensor step,
                      const UpdateRule& rule, CallSite site) {
  std::vector<Parameter> parameters = b.Gradients(loss, site);
  if (rule.clip_norm > 0) {
    parameters = ClipByNorm(std::move(parameters), rule.clip_norm, site);
  }
  PARTITA_ASSIGN_OR_RETURN(const Tensor rate,
                           LearningRate(b, step, rule.schedule, site));
  return Optimize(parameters, rate, step, rule.optimizer, site);
}

}  // namespace partita
