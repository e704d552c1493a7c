// What the gradients of recurrences are made of beside their own op.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_
#define PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_

#include "absl/types/span.h"
#include "graph/ops/grad_builder.h"

namespace partita {

// Gradients of last states, each [directions, batch, units], as [states,
// directions, batch, units].
Term StackedStates(absl::Span<const Term> states);

// Over steps and batch, by direction, the sum of left^T right: [directions,
// units, n] of [steps, batch, directions, units] and [.., n].
Term WeightGradient(Term left, Term right);

// [directions, n] of [steps, batch, directions, n].
Term DirectionSums(Term x);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_
