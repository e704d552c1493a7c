// Sums over steps and rows of the batch, as products.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/recurrent_gradient.h"

#include <vector>

#include "graph/ops/op_list.h"

namespace partita {
namespace {

// [directions, batch * steps, n]: rows of a micro-batch are contiguous.
Term ByDirection(Term x) {
  const Shape dims = x.dims();
  if (dims.size() != 4) return {};
  return ReshapeTo(TransposeTo(x, {2, 1, 0, 3}),
                   {dims[2], dims[1] * dims[0], dims[3]});
}

// Gradients of last states, each [directions, batch, units], as [states,
// directions, batch, units].
Term StackedStates(const std::vector<Term>& states) {
  std::vector<Term> slabs;
  for (const Term& state : states) {
    Shape dims = state.dims();
    dims.insert(dims.begin(), 1);
    slabs.push_back(ReshapeTo(state, dims));
  }
  if (slabs.size() == 1) return slabs[0];
  return Apply(kConcat, slabs, {{"axis", int64_t{0}}});
}

}  // namespace

std::vector<Term> BackThroughTime(GradBuilder& b, const OpDef& gradient,
                                  int states) {
  const int inputs = 2 + states;  // gates, r and the first states
  std::vector<Term> operands, last;
  for (int i = 0; i < inputs; ++i) operands.push_back(b.operand(i));
  for (int i = 1; i <= states; ++i) last.push_back(b.grad(i));
  operands.push_back(b.grad(0));
  operands.push_back(StackedStates(last));
  for (int i = inputs; i < b.num_operands(); ++i) {
    operands.push_back(b.operand(i));
  }
  std::vector<Term> found =
      b.ApplyAll(gradient, operands, b.op().node().attributes);
  if (!b.status().ok()) return {};
  b.Yield(0, found[0]);
  for (int i = 0; i < states; ++i) b.Yield(2 + i, found[1 + i]);
  return found;
}

Term WeightGradient(Term left, Term right) {
  return Apply(kMatmul, {ByDirection(left), ByDirection(right)},
               {{"transpose_a", true}});
}

Term DirectionSums(Term x) {
  const Shape dims = x.dims();
  if (dims.size() != 4) return {};
  return ReshapeTo(Sum(x, {0, 1}), {dims[2], dims[3]});
}

}  // namespace partita
