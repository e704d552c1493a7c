// The options of how a training step updates its parameters.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_UPDATE_RULE_H_
#define PARTITA_GRAPH_BUILDER_UPDATE_RULE_H_

#include "absl/status/status.h"
#include "graph/builder/chosen_optimizer.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/schedules.h"

namespace partita {

struct UpdateRule {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  // The largest common 2-norm of the gradients; 0: no clipping.
  double clip_norm = 0;
  // For losses over classes (losses.h); read by the code that builds the loss.
  double label_smoothing = 0;
  // The dtype of products, forward and backward: f32, bf16 or f16
  // (mixed_precision.h). With f16 the loss is scaled (loss_scaling.h).
  DType precision = DType::kF32;
};

// Builds gradients of the loss by all trainable variables, clipping, and the
// optimizer's update. The schedule depends only on `step`, a variable that
// counts from 0, so that a resumed training continues at its rate.
absl::Status Minimize(GraphBuilder& b, Tensor loss, Tensor step,
                      const UpdateRule& rule,
                      CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_UPDATE_RULE_H_
