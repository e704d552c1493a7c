// What all elementwise ops share: types, eval over broadcast operands, cost,
// rule.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_ELEMENTWISE_H_
#define PARTITA_GRAPH_OPS_ELEMENTWISE_H_

#include "graph/op_def.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"

namespace partita {

// Which function of a ScalarFunction a node uses: on_double if any operand is a
// float, else on_int if any is a signed integer, else on_uint (bools are 0 and
// 1). The result is narrowed as arithmetic.h says: rounded, wrapped or clamped.
enum class ScalarPath : uint8_t { kDouble, kInt, kUint };
ScalarPath PathOf(const OpView& op);

absl::Status EvalElementwise(const OpView& op,
                             absl::Span<const HostTensor> operands,
                             absl::Span<HostTensor> results);
// `flops` an element is counted as 1.
Cost ElementwiseCost(const OpView& op);

// Operands of one accepted type; the result has it too, or is bool.
absl::Status InferElementwise(const OpView& op, int accepted, bool is_test,
                              Types& results);
template <int accepted, bool is_test = false>
absl::Status InferScalar(const OpView& op, Types& results) {
  return InferElementwise(op, accepted, is_test, results);
}

// One row of a table of scalar functions; the caller sets what differs.
constexpr OpDef ElementwiseOp(const char* name, const char* doc,
                              const ScalarFunction* function) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.operands = {{{"x"}}};
  op.traits.elementwise = true;
  op.traits.keeps_layout = true;
  op.scalar = function;
  op.eval = EvalElementwise;
  op.cost = ElementwiseCost;
  op.dimension_rule = BroadcastRule;
  return op;
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_ELEMENTWISE_H_
