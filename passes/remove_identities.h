// Removes ops that return their operand unchanged.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_REMOVE_IDENTITIES_H_
#define PARTITA_PASSES_REMOVE_IDENTITIES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Makes readers of an op without effect read its operand instead.
//
//   before                                     after
//   %r = reshape %x {shape = [2, 3]}           %y = relu %x
//   %y = relu %r
//
// Handles: ops that move all bytes of one operand to one result of the same
// type (reshape, transpose, slice, expand, concat of one); cast to the same
// dtype; pad with amounts of 0; add, sub, mul, div and pow with a neutral
// constant; and stop_gradient, as gradients are built before any pass. Leaves:
// the op without readers, for `remove_dead`. Skips: x + 0 for floats, as IEEE
// 754 makes -0 + 0 = +0. For floats it removes x - 0, x * 1, x / 1 and x ^ 1.
absl::Status RemoveIdentities(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_REMOVE_IDENTITIES_H_
