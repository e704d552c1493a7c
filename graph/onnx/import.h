// ONNX models as modules.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_IMPORT_H_
#define PARTITA_GRAPH_ONNX_IMPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/onnx/import_options.h"

namespace partita {

// Reads a model of opset 7 to 28 (opsets.h) as one function. Weights stay in
// the mapped model or in external data files, which must be inside the model's
// folder; none of these files may change while the module exists (MappedFile).
// Scopes come from node names, locations name the ONNX node. Errors: NotFound
// or InvalidArgument for a file that is not a model or is truncated;
// InvalidArgument with the dimensions and shapes that `options` must bind, with
// bindings that the model does not have, or with an output of another element
// type than the model declares; Unimplemented with every node whose op or
// attribute is not supported or is newer than the model's opset.
absl::StatusOr<Module> ImportOnnx(const std::string& path,
                                  const ImportOptions& options);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_IMPORT_H_
