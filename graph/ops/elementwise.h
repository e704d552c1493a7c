// Shared by all elementwise ops: types, eval over broadcast operands, cost,
// rule.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_ELEMENTWISE_H_
#define PARTITA_GRAPH_OPS_ELEMENTWISE_H_

#include "graph/op_def.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"

namespace partita {

// The function of a ScalarFunction that a node uses: on_double if any operand
// is a float, otherwise on_int if any is a signed integer, otherwise on_uint
// (bools are 0 and 1). The result is narrowed as in eval_numbers.h: rounded,
// wrapped or clamped.
enum class ScalarPath : uint8_t { kDouble, kInt, kUint };
ScalarPath PathOf(const OpView& op);

// The arguments of these functions.
using DoubleArgs = absl::Span<const double>;
using IntArgs = absl::Span<const int64_t>;
using UintArgs = absl::Span<const uint64_t>;

absl::Status EvalElementwise(const OpView& op,
                             absl::Span<const HostTensor> operands,
                             absl::Span<HostTensor> results);
// Counts 1 flop for each element.
Cost ElementwiseCost(const OpView& op);

// Operands have one of the accepted types; the result has the same type, or is
// bool.
absl::Status InferElementwise(const OpView& op, int accepted, bool is_test,
                              Types& results);
template <int accepted, bool is_test = false>
absl::Status InferScalar(const OpView& op, Types& results) {
  return InferElementwise(op, accepted, is_test, results);
}

using GradientFunction = decltype(OpDef::gradient);

// One row of a table of scalar functions; the caller sets what differs.
constexpr OpDef ElementwiseOp(const char* name, const char* doc,
                              const ScalarFunction* function,
                              GradientFunction gradient = nullptr) {
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
  op.gradient = gradient;
  return op;
}

// A row for floats only.
constexpr OpDef FloatOp(const char* name, const char* doc,
                        const ScalarFunction* function,
                        GradientFunction gradient,
                        Tolerance tolerance = Tolerance::kRounding) {
  OpDef op = ElementwiseOp(name, doc, function, gradient);
  op.infer = InferScalar<kFloats>;
  op.tolerance = tolerance;
  return op;
}

// A row for all numbers, with the same bits on all devices.
constexpr OpDef NumberOp(const char* name, const char* doc,
                         const ScalarFunction* function,
                         GradientFunction gradient) {
  OpDef op = ElementwiseOp(name, doc, function, gradient);
  op.infer = InferScalar<kNumbers>;
  return op;
}

// A row of two operands for all numbers; without a gradient unless it is given.
constexpr OpDef BinaryOp(const char* name, const char* doc,
                         const ScalarFunction* function,
                         GradientFunction gradient = nullptr) {
  OpDef op = ElementwiseOp(name, doc, function, gradient);
  op.operands = {{{"a"}, {"b"}}};
  op.infer = InferScalar<kNumbers>;
  return op;
}

// A row with attributes.
constexpr OpDef With(OpDef op, AttrDef first, AttrDef second = {}) {
  op.attrs = {{first, second}};
  return op;
}

// A row without a gradient, and why.
constexpr OpDef NoGradient(OpDef op, const char* why) {
  op.no_gradient = why;
  return op;
}
inline constexpr const char* kTakesNoFloats = "for integers and bools only";

// A row with samples beside the generated ones (op_samples.h).
constexpr OpDef Sampled(OpDef op, decltype(OpDef::samples) samples) {
  op.samples = samples;
  return op;
}

// A function of floats that takes no attributes.
template <double (*function)(double), bool keeps_zero>
constexpr ScalarFunction kFloatFunction = {
    .on_double = [](absl::Span<const double> x,
                    const OpView&) { return function(x[0]); },
    .keeps_zero = keeps_zero};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_ELEMENTWISE_H_
