// Helpers for gradients of recurrences.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_
#define PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_

#include <vector>

#include "graph/ops/grad_builder.h"

namespace partita {

// The results of the recurrence's gradient op. The first ones are the gradients
// of gates and of `states` initial states; yields these. Empty after an error.
// The op has the recurrence's operands, with dy and dlast after the states.
std::vector<Term> BackThroughTime(GradBuilder& b, const OpDef& gradient,
                                  int states);

// left^T right summed over steps and batch, by direction: [directions, units,
// n] from [steps, batch, directions, units] and [.., n].
Term WeightGradient(Term left, Term right);

// [steps, batch, directions, n] summed to [directions, n].
Term DirectionSums(Term x);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_
