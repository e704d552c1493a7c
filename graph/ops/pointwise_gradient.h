// Gradients of functions of single elements, as formulas.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_POINTWISE_GRADIENT_H_
#define PARTITA_GRAPH_OPS_POINTWISE_GRADIENT_H_

#include "graph/ops/grad_builder.h"

namespace partita {

// y = f(x), and the gradient of the loss by y.
struct Point {
  OpView op;
  Term x;
  Term y;
  Term dy;
};

// The gradient of an op of one operand by `formula`, the gradient by x.
template <Term (*formula)(const Point& p)>
absl::Status Pointwise(GradBuilder& b) {
  b.Yield(0, formula({b.op(), b.operand(0), b.result(0), b.grad(0)}));
  return b.status();
}

// z = f(a, b), and the gradient of the loss by z.
struct PointPair {
  OpView op;
  Term a;
  Term b;
  Term z;
  Term dz;
};

// The gradient of an op of two operands, with a formula for each.
template <Term (*by_a)(const PointPair& p), Term (*by_b)(const PointPair& p)>
absl::Status Pairwise(GradBuilder& b) {
  const PointPair p = {b.op(), b.operand(0), b.operand(1), b.result(0),
                       b.grad(0)};
  if (b.needs(0)) b.Yield(0, by_a(p));
  if (b.needs(1)) b.Yield(1, by_b(p));
  return b.status();
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_POINTWISE_GRADIENT_H_
