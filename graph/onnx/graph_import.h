// A parsed ONNX graph as a module.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_GRAPH_IMPORT_H_
#define PARTITA_GRAPH_ONNX_GRAPH_IMPORT_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/onnx/import_options.h"
#include "graph/onnx/model_file.h"

namespace partita {

// Translates node by node, gathering every fault on the way; ImportOnnx without
// the reading of the file.
absl::StatusOr<Module> ImportGraph(const ModelFile& model,
                                   const ImportOptions& options);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_GRAPH_IMPORT_H_
