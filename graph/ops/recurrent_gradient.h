// What the gradients of recurrences are made of beside their own op.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_
#define PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_

#include <vector>

#include "graph/ops/grad_builder.h"

namespace partita {

// The results of the recurrence's own gradient op, whose first are the
// gradients by gates and `states` first states; yields these. None after an
// error. The op takes what the recurrence takes, with dy and dlast after the
// states.
std::vector<Term> BackThroughTime(GradBuilder& b, const OpDef& gradient,
                                  int states);

// Over steps and batch, by direction, the sum of left^T right: [directions,
// units, n] of [steps, batch, directions, units] and [.., n].
Term WeightGradient(Term left, Term right);

// [directions, n] of [steps, batch, directions, n].
Term DirectionSums(Term x);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RECURRENT_GRADIENT_H_
