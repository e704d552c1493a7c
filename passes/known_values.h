// What passes that recognise patterns ask of values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_KNOWN_VALUES_H_
#define PARTITA_PASSES_KNOWN_VALUES_H_

#include <optional>

#include "graph/op_view.h"

namespace partita {

// The op that makes the value, if it is `op`.
std::optional<OpView> MadeBy(const ValueView& value, const OpDef& op);

// The number that a constant holds in its one element.
std::optional<double> NumberIn(const ValueView& value);

// True for what hides a key whatever its score, if that is finite: minus
// infinity, and numbers beside which any score is lost.
bool Hides(double added);

}  // namespace partita

#endif  // PARTITA_PASSES_KNOWN_VALUES_H_
