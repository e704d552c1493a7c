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
  double growth = 2;  // after this many good steps in a row:
  int64_t growth_every = 2000;
  double backoff = 0.5;  // after a step whose gradients are not finite
  // Where growth and backoff end: a scale of 0 or infinity would stay so.
  double least = 1.0 / (1 << 24);
  double most = 1 << 24;
};

// Gradients of a loss by the trainable variables, computed at a scale that
// follows what the dtype of the backward pass can hold. Weights stay f32 and
// are cast where the forward pass is to be in half precision, so their
// gradients are f32 too.
//
//   ScaledGradients scaled = GradientsAtScale(loss);
//   const GraphBuilder::UpdateIf finite(b, scaled.finite);
//   Adam(scaled.parameters, rate, step - Cast(scaled.skipped_steps, kI64));
//
// A step whose gradients are not all finite leaves out the updates in the scope
// of `finite` and lowers the scale; an optimizer that counts its updates, as
// Adam does, does not count such a step. The variables kLossScale and
// kSkippedSteps, f32 scalars, tell the scale and the number of such steps;
// "loss_scale.good_steps" counts those in a row that were none.
inline constexpr char kLossScale[] = "loss_scale";
inline constexpr char kSkippedSteps[] = "loss_scale.skipped_steps";

struct ScaledGradients {
  std::vector<Parameter> parameters;  // scaled back
  Tensor finite;                      // bool, a scalar
  Tensor skipped_steps;               // f32, a scalar: before this one
};
ScaledGradients GradientsAtScale(Tensor loss, LossScaleOptions options = {},
                                 CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_LOSS_SCALING_H_
