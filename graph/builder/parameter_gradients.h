// What is done to gradients between the backward pass and the optimizer.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_PARAMETER_GRADIENTS_H_
#define PARTITA_GRAPH_BUILDER_PARAMETER_GRADIENTS_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/builder/graph_builder.h"

namespace partita {

// Gradients whose common 2-norm is at most this: all are scaled by max_norm /
// (norm + 1e-6) where that is below 1 (Pascanu et al. 2013).
std::vector<Parameter> ClipByNorm(std::vector<Parameter> parameters,
                                  double max_norm,
                                  CallSite site = CallSite::current());

// Gradients of several batches, for one update. In the function that computes
// them: adds each to a variable "w.gradient".
void AccumulateGradients(absl::Span<const Parameter> parameters,
                         CallSite site = CallSite::current());
// In another function of the same builder: the parameters with the mean of the
// `batches` gradients that were added, which start from zeros again.
std::vector<Parameter> AccumulatedGradients(
    GraphBuilder& b, absl::Span<const Parameter> parameters, int64_t batches,
    CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_PARAMETER_GRADIENTS_H_
