// The inputs of an ONNX graph, with the caller's bindings.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_GRAPH_INPUTS_H_
#define PARTITA_GRAPH_ONNX_GRAPH_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/onnx/import_options.h"
#include "graph/tensor_type.h"

namespace onnx {
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace partita {

// In order, without those that are initializers too, which old models list.
std::vector<const onnx::ValueInfoProto*> InputsOf(
    const onnx::GraphProto& graph);

// True if some or all extents are open.
bool HasOpenShape(const onnx::ValueInfoProto& input);

// Its open extents, by their names in ImportOptions::dims.
std::vector<std::string> OpenDimsOf(const onnx::ValueInfoProto& input);

struct GraphInput {
  std::string name;
  TensorType type;
  // One for each element, if the caller gave them; owned by the options.
  const std::vector<Number>* values = nullptr;
};

// All of InputsOf. Errors: a type that is not a tensor of numbers; inputs
// without a shape; dimensions without an extent; a dimension or input in
// `options` that the graph does not have; a shape or values of the wrong size.
absl::StatusOr<std::vector<GraphInput>> ReadGraphInputs(
    const onnx::GraphProto& graph, const ImportOptions& options);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_GRAPH_INPUTS_H_
