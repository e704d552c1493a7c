// Clipping and accumulation of gradients before the optimizer.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_PARAMETER_GRADIENTS_H_
#define PARTITA_GRAPH_BUILDER_PARAMETER_GRADIENTS_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/builder/graph_builder.h"

namespace partita {

// Clips the common 2-norm of the gradients: all are scaled by max_norm / (norm
// + 1e-6) if that is below 1 (Pascanu et al. 2013).
std::vector<Parameter> ClipByNorm(std::vector<Parameter> parameters,
                                  double max_norm,
                                  CallSite site = CallSite::current());

// Accumulates gradients of several batches for one update: adds each to a
// variable "w.gradient". Call in the function that computes them.
//
// For batches that the caller feeds in steps of their own. If all examples of
// an update are fed in one step, compile with CompileOptions::micro_batches
// (--micro-batches) instead: the compiler then accumulates within the step, and
// needs no such variables.
void AccumulateGradients(absl::Span<const Parameter> parameters,
                         CallSite site = CallSite::current());
// The parameters with the mean of the `batches` accumulated gradients, which
// are reset to zeros. Call in another function of the same builder.
std::vector<Parameter> AccumulatedGradients(
    GraphBuilder& b, absl::Span<const Parameter> parameters, int64_t batches,
    CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_PARAMETER_GRADIENTS_H_
