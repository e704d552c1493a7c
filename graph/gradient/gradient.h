// Reverse-mode differentiation of a graph: adds the backward pass as nodes of
// the same function.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_GRADIENT_GRADIENT_H_
#define PARTITA_GRAPH_GRADIENT_GRADIENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// A value to differentiate, and its incoming gradient of the same type. Without
// a gradient (invalid) the gradient is 1, and the value must have one element.
struct Loss {
  ValueId value;
  ValueId gradient;
};

// Adds nodes to the end of `graph` that compute, for each requested value, the
// sum of all losses' gradients with respect to it. Returns the gradients in the
// order of the values, with their types. A value that no loss depends on has
// gradient 0.
//
// Makes nodes only on paths from a requested value to a loss: those of
// OpDef::gradient, for each operand on such a path, in the op's scope and on
// its device. Several readers of a value give a chain of adds. Call before any
// pass: fused nodes have no gradient.
//
// InvalidArgument for a requested value or a loss that is not float, or a loss
// of several elements without a gradient of its type. Unimplemented for an op
// without a gradient on a path. After an error the graph may have unread nodes.
absl::StatusOr<std::vector<ValueId>> AddGradients(
    Graph& graph, absl::Span<const Loss> losses,
    absl::Span<const ValueId> wanted);

// The gradients of one loss with respect to module variables, summed over all
// nodes that read them. InvalidArgument for a variable that the graph does not
// read.
absl::StatusOr<std::vector<ValueId>> AddVariableGradients(
    Graph& graph, ValueId loss, absl::Span<const std::string> variables);

}  // namespace partita

#endif  // PARTITA_GRAPH_GRADIENT_GRADIENT_H_
