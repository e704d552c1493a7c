// The loss that models of text are trained by.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_EXAMPLES_TEXT_LOSS_H_
#define PARTITA_GRAPH_BUILDER_EXAMPLES_TEXT_LOSS_H_

#include "absl/status/status.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/update_rule.h"

namespace partita {

// Input `labels`, i64 of the dimensions `windows`: what follows each token; and
// output `loss`, the mean cross entropy of `scores`, which has a row for each
// label. The update goes by the loss.
absl::Status MinimizeTextLoss(GraphBuilder& b, Tensor scores,
                              const Shape& windows, Tensor step,
                              const UpdateRule& update);

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_EXAMPLES_TEXT_LOSS_H_
