// Matches spelled-out activations from their last op backwards.
// SPDX-License-Identifier: Apache-2.0

#include "passes/recognise_activations.h"

#include <cmath>
#include <optional>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Exporters write 1/6 in float or with few digits.
bool Near(double a, double b) { return std::fabs(a - b) < 1e-6; }

bool IsScalar(const ValueView& value, double wanted) {
  const HostTensor* constant = value.constant();
  return constant != nullptr && value.type().num_elements() == 1 &&
         Near(GetAsDouble(*constant, 0), wanted);
}

// The op that makes `value`, if it is `op` and nothing else reads its result.
std::optional<OpView> OnlyReadBy(const ValueView& value, const OpDef& op) {
  const std::optional<OpView> made = value.defining_op();
  if (!made.has_value() || !made->is(op) || !value.has_one_reader()) {
    return std::nullopt;
  }
  return made;
}

// The other operand of a commutative op with scalar `wanted`.
std::optional<ValueView> BesideScalar(const OpView& op, double wanted) {
  if (IsScalar(op.operand(1), wanted)) return op.operand(0);
  if (IsScalar(op.operand(0), wanted)) return op.operand(1);
  return std::nullopt;
}

// clip(x + 3, 0, 6), which is 6 * hard_sigmoid: its x.
std::optional<ValueView> ClippedOf(const ValueView& value) {
  const std::optional<OpView> clip = OnlyReadBy(value, kClip);
  if (!clip.has_value() || clip->attr_float("min") != 0 ||
      clip->attr_float("max") != 6) {
    return std::nullopt;
  }
  const std::optional<OpView> add = OnlyReadBy(clip->operand(0), kAdd);
  return add.has_value() ? BesideScalar(*add, 3) : std::nullopt;
}

// x of a gate that x itself is multiplied with, and the op that results.
struct Gate {
  ValueView x;
  const OpDef* activation;
  double scale;  // the product is this many times the activation
};

std::optional<Gate> GateOf(const ValueView& value) {
  if (std::optional<ValueView> x = ClippedOf(value)) {
    return Gate{*x, &kHardSwish, 6};
  }
  if (std::optional<OpView> gate = OnlyReadBy(value, kHardSigmoid)) {
    if (Near(gate->attr_float("alpha"), 1.0 / 6) &&
        Near(gate->attr_float("beta"), 0.5)) {
      return Gate{gate->operand(0), &kHardSwish, 1};
    }
  }
  if (std::optional<OpView> gate = OnlyReadBy(value, kSigmoid)) {
    return Gate{gate->operand(0), &kSilu, 1};
  }
  return std::nullopt;
}

std::optional<Gate> GatedProduct(const OpView& mul) {
  for (int side = 0; side < 2; ++side) {
    const std::optional<Gate> gate = GateOf(mul.operand(side));
    if (gate.has_value() && gate->x.id() == mul.operand(1 - side).id()) {
      return gate;
    }
  }
  return std::nullopt;
}

// What `op` computes, if it is the last op of an activation.
std::optional<Gate> Match(const OpView& op) {
  if (op.is(kMul)) {
    const std::optional<Gate> gate = GatedProduct(op);
    if (gate.has_value() && gate->scale == 1) return gate;
    // (x * clip(x + 3, 0, 6)) * (1 / 6)
    const std::optional<ValueView> inner = BesideScalar(op, 1.0 / 6);
    if (!inner.has_value()) return std::nullopt;
    const std::optional<OpView> mul = OnlyReadBy(*inner, kMul);
    const std::optional<Gate> scaled =
        mul.has_value() ? GatedProduct(*mul) : std::nullopt;
    return scaled.has_value() && scaled->scale == 6 ? scaled : std::nullopt;
  }
  if (op.is(kDiv) && IsScalar(op.operand(1), 6)) {
    const std::optional<OpView> mul = OnlyReadBy(op.operand(0), kMul);
    const std::optional<Gate> gate =
        mul.has_value() ? GatedProduct(*mul) : std::nullopt;
    return gate.has_value() && gate->scale == 6 ? gate : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

absl::Status RecogniseActivations(Graph& graph) {
  for (OpView op : graph.ops()) {
    const std::optional<Gate> gate = Match(op);
    if (!gate.has_value() || gate->x.type() != op.result_type(0)) continue;
    const ValueId old = op.result(0).id();
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId activation,
        graph.AddValue({.op = gate->activation,
                        .operands = {gate->x.id()},
                        .result_names = {graph.value(old).name},
                        .scope = op.node().scope,
                        .location = op.node().location},
                       op.id()));
    graph.ReplaceAllUses(old, activation);
    graph.Erase(op.id());
  }
  return absl::OkStatus();
}

}  // namespace partita
