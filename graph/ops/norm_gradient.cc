// Normalisation and its gradient as formulas.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/norm_gradient.h"

#include <utility>

namespace partita {

Term RateOf(Term variance, double epsilon) {
  return Reciprocal(Sqrt(variance + epsilon));
}

Normalised Normalise(Term x, Axes axes, double epsilon) {
  const Term centred = x - Mean(x, axes);
  const Term rate = RateOf(Mean(centred * centred, axes), epsilon);
  return {centred * rate, rate, std::move(axes)};
}

Term GradientOf(const Normalised& n, Term g) {
  return n.rate * (g - Mean(g, n.axes) - n.x_hat * Mean(g * n.x_hat, n.axes));
}

}  // namespace partita
