// Questions about one value.
// SPDX-License-Identifier: Apache-2.0

#include "passes/known_values.h"

#include "graph/op_def.h"

namespace partita {

std::optional<OpView> MadeBy(const ValueView& value, const OpDef& op) {
  const std::optional<OpView> made = value.defining_op();
  return made.has_value() && made->is(op) ? made : std::nullopt;
}

std::optional<double> NumberIn(const ValueView& value) {
  if (!value.is_constant() || value.type().num_elements() != 1) {
    return std::nullopt;
  }
  return GetAsDouble(*value.constant(), 0);
}

bool Hides(double added) { return added < -1e30; }

}  // namespace partita
