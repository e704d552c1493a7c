// The gradient that all ops share which join updates into a tensor by indices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_SCATTER_GRADIENT_H_
#define PARTITA_GRAPH_OPS_SCATTER_GRADIENT_H_

#include "graph/ops/grad_builder.h"

namespace partita {

// Reading and joining at the positions that indices name.
struct Indexed {
  // Of x, in the extents of the updates.
  Term Read(Term x) const;
  // Updates joined into x by a reduction: "none", "add", "mul", ...
  Term Scatter(const char* reduction, Term x, Term updates) const;

  const OpDef* gather;
  const OpDef* scatter;
  Term indices;
  Attributes attributes;  // that both ops have
};

// Of a node scatter(x, indices, updates) {reduction}. Elements that are joined
// by a maximum or minimum share its gradient evenly where several are it. Where
// updates replace and several name one position, each gets the gradient.
absl::Status ScatterGradient(GradBuilder& b, const Indexed& at);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_SCATTER_GRADIENT_H_
