// Questions about one value, or about two types; specs of nodes.
// SPDX-License-Identifier: Apache-2.0

#include "passes/matching.h"

#include <utility>

#include "graph/op_def.h"

namespace partita {

std::optional<OpView> MadeBy(const ValueView& value, const OpDef& op) {
  const std::optional<OpView> made = value.defining_op();
  return made.has_value() && made->is(op) ? made : std::nullopt;
}

std::optional<OpView> InnerOp(const ValueView& value, const OpDef& op) {
  return value.has_one_reader() ? MadeBy(value, op) : std::nullopt;
}

std::optional<double> NumberIn(const ValueView& value) {
  if (!value.is_constant() || value.type().num_elements() != 1) {
    return std::nullopt;
  }
  return GetAsDouble(*value.constant(), 0);
}

bool Hides(double added) { return added < -1e30; }

// Dimensions count from the last, as in broadcasting.
bool IsOneForEachSum(const TensorType& factor, const TensorType& sum) {
  if (factor.rank() > sum.rank()) return false;
  const int missing = sum.rank() - factor.rank();
  for (int i = 0; i < factor.rank(); ++i) {
    if (factor.dims[i] != 1 && factor.dims[i] != sum.dims[i + missing]) {
      return false;
    }
  }
  return true;
}

bool IsRead(const ValueView& value) {
  return value.num_uses() > 0 || value.graph().is_output(value.id());
}

NodeSpec SpecLike(const OpView& like, const Placement& placement,
                  const OpDef& op, ValueIds operands, Attributes attributes) {
  return {.op = &op,
          .operands = std::move(operands),
          .attributes = std::move(attributes),
          .scope = like.node().scope,
          .location = like.node().location,
          .placement = placement};
}

}  // namespace partita
