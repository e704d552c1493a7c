// All that is chosen about how a training step changes its parameters.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_UPDATE_RULE_H_
#define PARTITA_GRAPH_BUILDER_UPDATE_RULE_H_

#include "absl/status/status.h"
#include "graph/builder/chosen_optimizer.h"
#include "graph/builder/chosen_schedule.h"
#include "graph/builder/graph_builder.h"

namespace partita {

struct UpdateRule {
  OptimizerChoice optimizer;
  ScheduleChoice schedule;
  // The most that the gradients' common 2-norm may be; 0: as it is.
  double clip_norm = 0;
  // Of a loss of classes (losses.h), which who builds the loss reads.
  double label_smoothing = 0;
  // Of products, forward and backward: f32, bf16 or f16 (mixed_precision.h).
  // With f16 the loss is scaled (loss_scaling.h).
  DType precision = DType::kF32;
};

// Gradients of the loss by all trainable variables, clipped, and the update
// by the optimizer. `step`, a variable that counts from 0, is all that the
// schedule goes by, so that a training that is resumed goes on at its rate.
absl::Status Minimize(GraphBuilder& b, Tensor loss, Tensor step,
                      const UpdateRule& rule,
                      CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_UPDATE_RULE_H_
