// Removes ops that give back their operand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_REMOVE_IDENTITIES_H_
#define PARTITA_PASSES_REMOVE_IDENTITIES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Lets readers of an op that changes nothing read its operand instead.
//
//   before                                     after
//   %r = reshape %x {shape = [2, 3]}           %y = relu %x
//   %y = relu %r
//
// Knows: an op that moves all bytes of one operand to one result of the same
// type (reshape, transpose, slice, expand, concat of one), cast to the same
// dtype, pad by nothing, add, sub, mul, div and pow with a constant that has no
// effect, and stop_gradient, as gradients are built before any pass. Leaves:
// the op unread, for `remove_dead`. Skips: x + 0 where x may be -0: IEEE 754
// makes that +0, so only x - 0, x * 1, x / 1 and x ^ 1 go away in floats.
absl::Status RemoveIdentities(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_REMOVE_IDENTITIES_H_
