// What passes that match patterns share: queries, and specs of nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_MATCHING_H_
#define PARTITA_PASSES_MATCHING_H_

#include <optional>

#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {

// The node that makes the value, if it is of op `op`.
std::optional<OpView> MadeBy(const ValueView& value, const OpDef& op);

// The same, if the value has no other reader: an inner node of a pattern.
std::optional<OpView> InnerOp(const ValueView& value, const OpDef& op);

// The number in a constant with one element.
std::optional<double> NumberIn(const ValueView& value);

// True for a number that hides a key with any finite score: minus infinity, and
// numbers so low that adding a score has no effect.
bool Hides(double added);

// True if the factor broadcasts to the sum's extents, where summed dimensions
// have extent 1: the factor is then constant for all elements of each sum.
bool IsOneForEachSum(const TensorType& factor, const TensorType& sum);

// True if a node, an output or an update reads the value.
bool IsRead(const ValueView& value);

// The spec of a node with the scope and the location of `like`.
NodeSpec SpecLike(const OpView& like, const Placement& placement,
                  const OpDef& op, ValueIds operands, Attributes attributes);

}  // namespace partita

#endif  // PARTITA_PASSES_MATCHING_H_
