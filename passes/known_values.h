// Queries of values, for passes that recognise patterns.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_KNOWN_VALUES_H_
#define PARTITA_PASSES_KNOWN_VALUES_H_

#include <optional>

#include "graph/op_view.h"

namespace partita {

// The node that makes the value, if it is of op `op`.
std::optional<OpView> MadeBy(const ValueView& value, const OpDef& op);

// The number in a constant with one element.
std::optional<double> NumberIn(const ValueView& value);

// True for a number that hides a key with any finite score: minus infinity, and
// numbers so low that adding a score has no effect.
bool Hides(double added);

}  // namespace partita

#endif  // PARTITA_PASSES_KNOWN_VALUES_H_
