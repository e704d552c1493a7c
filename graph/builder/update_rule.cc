// Gradients, clipping, learning rate, optimizer.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/update_rule.h"

#include <optional>
#include <utility>
#include <vector>

#include "graph/builder/loss_scaling.h"
#include "graph/builder/mixed_precision.h"
#include "graph/builder/ops.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// bf16 has the range of f32, so gradients underflow only in f16.
ScaledGradients GradientsOf(GraphBuilder& b, Tensor loss, DType precision,
                            CallSite site) {
  if (precision == DType::kF16) return GradientsAtScale(loss, {}, site);
  return {b.Gradients(loss, site), {}, {}};
}

// The number of parameter updates before this step.
Tensor UpdatesBefore(Tensor step, const ScaledGradients& scaled) {
  if (!step.valid() || !scaled.skipped_steps.valid()) return step;
  return step - Cast(scaled.skipped_steps, step.type().dtype);
}

}  // namespace

absl::Status Minimize(GraphBuilder& b, Tensor loss, Tensor step,
                      const UpdateRule& rule, CallSite site) {
  PARTITA_RETURN_IF_ERROR(NarrowProducts(b, rule.precision));
  const ScaledGradients scaled = GradientsOf(b, loss, rule.precision, site);
  std::optional<GraphBuilder::UpdateIf> finite;
  if (scaled.finite.valid()) finite.emplace(b, scaled.finite, site);
  std::vector<Parameter> parameters = scaled.parameters;
  if (rule.clip_norm > 0) {
    parameters = ClipByNorm(std::move(parameters), rule.clip_norm, site);
  }
  PARTITA_ASSIGN_OR_RETURN(const Tensor rate,
                           LearningRate(b, step, rule.schedule, site));
  return Optimize(parameters, rate, UpdatesBefore(step, scaled), rule.optimizer,
                  site);
}

}  // namespace partita
