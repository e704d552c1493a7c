// Sums over steps and rows of the batch, as products.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/recurrent_gradient.h"

#include <vector>

#include "graph/ops/op_list.h"

namespace partita {
namespace {

// [directions, batch * steps, n]: rows of a micro-batch lie together.
Term ByDirection(Term x) {
  const Shape dims = x.dims();
  if (dims.size() != 4) return {};
  return ReshapeTo(TransposeTo(x, {2, 1, 0, 3}),
                   {dims[2], dims[1] * dims[0], dims[3]});
}

}  // namespace

Term StackedStates(absl::Span<const Term> states) {
  std::vector<Term> slabs;
  for (const Term& state : states) {
    Shape dims = state.dims();
    dims.insert(dims.begin(), 1);
    slabs.push_back(ReshapeTo(state, dims));
  }
  if (slabs.size() == 1) return slabs[0];
  return Apply(kConcat, slabs, {{"axis", int64_t{0}}});
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
