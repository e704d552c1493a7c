// Loss scaling, so that gradients in half precision do not vanish
// (Micikevicius et al. 2018).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_LOSS_SCALING_H_
#define PARTITA_GRAPH_BUILDER_LOSS_SCALING_H_

#include <cstdint>
#include <vector>

#include "graph/builder/graph_builder.h"

namespace partita {

struct LossScaleOptions {
  double initial = 65536;
  double growth = 2;  // after this many finite steps in a row:
  int64_t growth_every = 2000;
  double backoff = 0.5;  // after a step whose gradients are not finite
  // The bounds of growth and backoff: a scale could not recover from 0 or
  // infinity.
  double least = 1.0 / (1 << 24);
  double most = 1 << 24;
};

// Gradients of a loss by the trainable variables. The loss is scaled, and the
// scale follows the range of the backward pass's dtype. Weights stay f32 and
// are cast where the forward pass uses half precision, so their gradients are
// f32 too.
//
//   ScaledGradients scaled = GradientsAtScale(loss);
//   const GraphBuilder::UpdateIf finite(b, scaled.finite);
//   Adam(scaled.parameters, rate, step - Cast(scaled.skipped_steps, kI64));
//
// A step with a gradient that is not finite skips the updates in the scope of
// `finite` and lowers the scale; optimizers that count updates, such as Adam,
// do not count it. The f32 scalar variables kLossScale and kSkippedSteps have
// the scale and the number of skipped steps; "loss_scale.good_steps" counts the
// steps since the last skipped one.
inline constexpr char kLossScale[] = "loss_scale";
inline constexpr char kSkippedSteps[] = "loss_scale.skipped_steps";

struct ScaledGradients {
  std::vector<Parameter> parameters;  // with unscaled gradients
  Tensor finite;                      // bool, a scalar
  Tensor skipped_steps;               // f32, a scalar: before this one
};
ScaledGradients GradientsAtScale(Tensor loss, LossScaleOptions options = {},
                                 CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_LOSS_SCALING_H_
