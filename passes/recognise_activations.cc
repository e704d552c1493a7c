// Matches decomposed activations backwards from their last op.
// SPDX-License-Identifier: Apache-2.0

#include "passes/recognise_activations.h"

#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/matching.h"

namespace partita {
namespace {

// True for the same number up to its last bits in this dtype: exporters write
// 1/6 of an f32 with 7 to 16 digits.
bool IsNumber(double found, double wanted, DType dtype) {
  const double unit = dtype == DType::kF64    ? 0x1p-52
                      : dtype == DType::kF16  ? 0x1p-10
                      : dtype == DType::kBF16 ? 0x1p-7
                                              : 0x1p-23;
  return std::fabs(found - wanted) <= 2 * unit * std::fabs(wanted);
}

bool IsScalar(const ValueView& value, double wanted) {
  const std::optional<double> number = NumberIn(value);
  return number.has_value() && IsNumber(*number, wanted, value.type().dtype);
}

// The other operand of a commutative op with the scalar `wanted`.
std::optional<ValueView> BesideScalar(const OpView& op, double wanted) {
  if (IsScalar(op.operand(1), wanted)) return op.operand(0);
  if (IsScalar(op.operand(0), wanted)) return op.operand(1);
  return std::nullopt;
}

// The x of clip(x + 3, 0, 6), which is 6 * hard_sigmoid.
std::optional<ValueView> ClippedOf(const ValueView& value) {
  const std::optional<OpView> clip = InnerOp(value, kClip);
  if (!clip.has_value() || clip->attr_float("min") != 0 ||
      clip->attr_float("max") != 6) {
    return std::nullopt;
  }
  const std::optional<OpView> add = InnerOp(clip->operand(0), kAdd);
  return add.has_value() ? BesideScalar(*add, 3) : std::nullopt;
}

// The x of 1 + erf(x / sqrt(2)), which is twice the normal distribution
// function.
std::optional<ValueView> NormalOf(const ValueView& value) {
  const std::optional<OpView> add = InnerOp(value, kAdd);
  const std::optional<ValueView> inner =
      add.has_value() ? BesideScalar(*add, 1) : std::nullopt;
  const std::optional<OpView> erf =
      inner.has_value() ? InnerOp(*inner, kErf) : std::nullopt;
  if (!erf.has_value()) return std::nullopt;
  if (std::optional<OpView> div = InnerOp(erf->operand(0), kDiv)) {
    if (IsScalar(div->operand(1), std::numbers::sqrt2)) return div->operand(0);
  }
  if (std::optional<OpView> mul = InnerOp(erf->operand(0), kMul)) {
    return BesideScalar(*mul, 1 / std::numbers::sqrt2);
  }
  return std::nullopt;
}

// A gate of x that is multiplied with x, and the resulting op.
struct Gate {
  ValueView x;
  const OpDef* activation;
  double scale;  // the product is this many times the activation
};

std::optional<Gate> GateOf(const ValueView& value) {
  if (std::optional<ValueView> x = ClippedOf(value)) {
    return Gate{*x, &kHardSwish, 6};
  }
  if (std::optional<ValueView> x = NormalOf(value)) {
    return Gate{*x, &kGelu, 2};
  }
  if (std::optional<OpView> gate = InnerOp(value, kHardSigmoid)) {
    const DType dtype = value.type().dtype;
    if (IsNumber(gate->attr_float("alpha"), 1.0 / 6, dtype) &&
        IsNumber(gate->attr_float("beta"), 0.5, dtype)) {
      return Gate{gate->operand(0), &kHardSwish, 1};
    }
  }
  if (std::optional<OpView> gate = InnerOp(value, kSigmoid)) {
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

// The gated product that makes `value`, if it has no other reader.
std::optional<Gate> ProductOf(const ValueView& value) {
  const std::optional<OpView> mul = InnerOp(value, kMul);
  return mul.has_value() ? GatedProduct(*mul) : std::nullopt;
}

// (x * 0.5) * (1 + erf(x / sqrt(2))): the factor 0.5 is in the other operand.
std::optional<Gate> HalvedBefore(const OpView& mul) {
  for (int side = 0; side < 2; ++side) {
    const std::optional<Gate> gate = GateOf(mul.operand(side));
    const std::optional<OpView> half = InnerOp(mul.operand(1 - side), kMul);
    if (!gate.has_value() || gate->scale != 2 || !half.has_value()) continue;
    const std::optional<ValueView> x = BesideScalar(*half, 0.5);
    if (x.has_value() && x->id() == gate->x.id()) return gate;
  }
  return std::nullopt;
}

// The activation that ends with `op`, if any.
std::optional<Gate> Match(const OpView& op) {
  if (op.is(kMul)) {
    const std::optional<Gate> gate = GatedProduct(op);
    if (gate.has_value() && gate->scale == 1) return gate;
    for (double scale : {2.0, 6.0}) {
      const std::optional<ValueView> inner = BesideScalar(op, 1 / scale);
      if (!inner.has_value()) continue;
      const std::optional<Gate> scaled = ProductOf(*inner);
      if (scaled.has_value() && scaled->scale == scale) return scaled;
    }
    return HalvedBefore(op);
  }
  if (op.is(kDiv) && IsScalar(op.operand(1), 6)) {
    const std::optional<Gate> gate = ProductOf(op.operand(0));
    return gate.has_value() && gate->scale == 6 ? gate : std::nullopt;
  }
  return std::nullopt;
}

// Admits the ops between x and the activation's last op. False if two of them
// have different pins. Visits no more ops than Match.
bool AdmitAll(const OpView& last, const ValueView& x, JointPlacement& joint) {
  std::vector<OpView> members = {last};
  while (!members.empty()) {
    const OpView op = members.back();
    members.pop_back();
    if (!joint.Admit(op.node())) return false;
    for (int i = 0; i < op.num_operands(); ++i) {
      const ValueView operand = op.operand(i);
      if (operand.id() == x.id() || operand.is_constant()) continue;
      members.push_back(*operand.defining_op());
    }
  }
  return true;
}

}  // namespace

absl::Status RecogniseActivations(Graph& graph) {
  for (OpView op : graph.ops()) {
    const std::optional<Gate> gate = Match(op);
    if (!gate.has_value() || gate->x.type() != op.result_type(0)) continue;
    JointPlacement joint;
    if (!AdmitAll(op, gate->x, joint)) continue;
    const ValueId old = op.result(0).id();
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId activation,
        graph.AddValue({.op = gate->activation,
                        .operands = {gate->x.id()},
                        .result_names = {graph.value(old).name},
                        .scope = op.node().scope,
                        .location = op.node().location,
                        .placement = joint.get()},
                       op.id()));
    graph.ReplaceAllUses(old, activation);
    graph.Erase(op.id());
  }
  return absl::OkStatus();
}

}  // namespace partita
