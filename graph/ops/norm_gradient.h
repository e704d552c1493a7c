// The gradient shared by all ops that normalise to mean 0 and variance 1.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_NORM_GRADIENT_H_
#define PARTITA_GRAPH_OPS_NORM_GRADIENT_H_

#include "graph/ops/grad_builder.h"

namespace partita {

// x_hat = (x - mean x) rate, with rate = 1 / sqrt(variance x + epsilon), over
// some axes.
struct Normalised {
  Term x_hat;
  Term rate;
  Axes axes;
};
Normalised Normalise(Term x, Axes axes, double epsilon);

// 1 / sqrt(variance + epsilon)
Term RateOf(Term variance, double epsilon);

// The gradient by x, where g is the gradient by x_hat: rate (g - mean g - x_hat
// mean(g x_hat)).
Term GradientOf(const Normalised& n, Term g);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_NORM_GRADIENT_H_
