// Runs a graph by the eval of its ops: the reference for all kernels and
// passes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_EVALUATE_H_
#define PARTITA_GRAPH_EVALUATE_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"

namespace partita {

// Values of variables by name.
using VariableValues = absl::flat_hash_map<std::string, const HostTensor*>;

// The outputs (then the updates, in their order) for these inputs, row-major.
// Layouts, devices and kernels written on the graph have no influence.
// InvalidArgument if inputs do not match the graph's. Errors of an eval name
// the node.
absl::StatusOr<std::vector<HostTensor>> Evaluate(
    const Graph& graph, absl::Span<const HostTensor> inputs,
    const VariableValues& variables = {});

// Runs the node's eval into `results`, row-major and zeroed. Results without
// elements take no time, however large their other extents are.
absl::Status EvaluateInto(const OpView& node,
                          absl::Span<const HostTensor> operands,
                          absl::Span<HostTensor> results);

// One node's results from its operands.
absl::StatusOr<std::vector<HostTensor>> EvaluateNode(
    const OpView& node, absl::Span<const HostTensor> operands);

}  // namespace partita

#endif  // PARTITA_GRAPH_EVALUATE_H_
