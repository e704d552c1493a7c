// The training loss of text models.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_EXAMPLES_TEXT_LOSS_H_
#define PARTITA_GRAPH_BUILDER_EXAMPLES_TEXT_LOSS_H_

#include "absl/status/status.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/update_rule.h"

namespace partita {

// Adds the input `labels`, i64 with dimensions `windows`: the token after each
// token. Adds the output `loss`, the mean cross entropy of `scores`, which has
// a row for each label. Returns the loss to minimize.
absl::Status MinimizeTextLoss(GraphBuilder& b, Tensor scores,
                              const Shape& windows, Tensor step,
                              const UpdateRule& update);

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_EXAMPLES_TEXT_LOSS_H_
