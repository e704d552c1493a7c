// Gradients of scattered updates, by reduction.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/scatter_gradient.h"

#include <utility>

#include "graph/ops/indexing.h"

namespace partita {
namespace {

// The gradients by x and by the updates.
struct Pair {
  Term x;
  Term updates;
};

Pair OfReplaced(GradBuilder& b, const Indexed& at) {
  const Term zeros = b.Filled(b.operand(2).type(), 0);
  return {b.needs(0) ? at.Scatter("none", b.grad(0), zeros) : Term(),
          b.needs(2) ? at.Read(b.grad(0)) : Term()};
}

Pair OfSum(GradBuilder& b, const Indexed& at) {
  return {b.grad(0), b.needs(2) ? at.Read(b.grad(0)) : Term()};
}

// The product of the other elements, without division by zero. Counts zeros
// separately and uses ones in their place.
Pair OfProduct(GradBuilder& b, const Indexed& at) {
  const DType dtype = b.operand(0).type().dtype;
  const Term x_zero = CastTo(Equal(b.operand(0), 0), dtype);
  const Term u_zero = CastTo(Equal(b.operand(2), 0), dtype);
  const Term x_safe = b.operand(0) + x_zero;
  const Term u_safe = b.operand(2) + u_zero;
  const Term zeros = at.Scatter("add", x_zero, u_zero);
  const Term product = b.grad(0) * at.Scatter("mul", x_safe, u_safe);
  return {Where(Equal(zeros, x_zero), product / x_safe, 0),
          Where(Equal(at.Read(zeros), u_zero), at.Read(product) / u_safe, 0)};
}

Pair OfExtreme(GradBuilder& b, const Indexed& at) {
  const DType dtype = b.operand(0).type().dtype;
  const Term y = b.result(0);
  const Term x_mark = CastTo(Equal(b.operand(0), y), dtype);
  const Term u_mark = CastTo(Equal(b.operand(2), at.Read(y)), dtype);
  const Term marks = at.Scatter("add", x_mark, u_mark);
  const Term share = b.grad(0) / marks;
  return {share * x_mark, at.Read(share) * u_mark};
}

Pair GradientsOf(GradBuilder& b, const Indexed& at) {
  switch (ScatterReductionOf(b.op())) {
    case ScatterReduction::kReplace:
      return OfReplaced(b, at);
    case ScatterReduction::kAdd:
      return OfSum(b, at);
    case ScatterReduction::kMul:
      return OfProduct(b, at);
    case ScatterReduction::kMin:
    case ScatterReduction::kMax:
      break;
  }
  return OfExtreme(b, at);
}

}  // namespace

Term Indexed::Read(Term x) const {
  return Apply(*gather, {x, indices}, attributes);
}

Term Indexed::Scatter(const char* reduction, Term x, Term updates) const {
  Attributes scattered = attributes;
  scattered.Set("reduction", std::string(reduction));
  return Apply(*scatter, {x, indices, updates}, std::move(scattered));
}

absl::Status ScatterGradient(GradBuilder& b, const Indexed& at) {
  const Pair gradients = GradientsOf(b, at);
  b.Yield(0, gradients.x);
  b.Yield(2, gradients.updates);
  return b.status();
}

}  // namespace partita
