// Reverse-mode differentiation of a graph: the backward pass as more nodes of
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

// A value that is differentiated. The gradient that comes into it has its type;
// none (invalid) stands for 1, and then the value has one element.
struct Loss {
  ValueId value;
  ValueId gradient;
};

// Adds to the end of `graph` the nodes that compute, for each wanted value, the
// sum over the losses of their gradients by it; the gradients, of the values'
// types and in their order. A value that no loss depends on has the gradient 0.
//
// Nodes are made only on paths from a wanted value to a loss, an op's own
// (OpDef::gradient) one for each operand on such a path, in the op's scope and
// on its device. Several readers of a value give a chain of adds. To be called
// before any pass: fused nodes have no gradient.
//
// InvalidArgument for a wanted value or a loss that is not float, or a loss of
// several elements without a gradient of its own type; Unimplemented for an op
// without a gradient on a path. The graph may then hold nodes that nobody
// reads.
absl::StatusOr<std::vector<ValueId>> AddGradients(
    Graph& graph, absl::Span<const Loss> losses,
    absl::Span<const ValueId> wanted);

// The gradients of one loss by module variables, over all nodes that read them.
// InvalidArgument for a variable that the graph does not read.
absl::StatusOr<std::vector<ValueId>> AddVariableGradients(
    Graph& graph, ValueId loss, absl::Span<const std::string> variables);

}  // namespace partita

#endif  // PARTITA_GRAPH_GRADIENT_GRADIENT_H_
