// The gradient shared by all ops that scatter updates into a tensor by indices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_SCATTER_GRADIENT_H_
#define PARTITA_GRAPH_OPS_SCATTER_GRADIENT_H_

#include "graph/ops/grad_builder.h"

namespace partita {

// Reads and reduces at the positions of indices.
struct Indexed {
  // Gathers from x, with the extents of the updates.
  Term Read(Term x) const;
  // Scatters updates into x with a reduction: "none", "add", "mul", ...
  Term Scatter(const char* reduction, Term x, Term updates) const;

  const OpDef* gather;
  const OpDef* scatter;
  Term indices;
  Attributes attributes;  // of both ops
};

// The gradient of a node scatter(x, indices, updates) {reduction}. Elements
// that tie for a maximum or minimum share its gradient evenly. If several
// updates without reduction have the same position, each gets the whole
// gradient.
absl::Status ScatterGradient(GradBuilder& b, const Indexed& at);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_SCATTER_GRADIENT_H_
