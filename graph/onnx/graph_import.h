// A parsed ONNX graph as a module.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_GRAPH_IMPORT_H_
#define PARTITA_GRAPH_ONNX_GRAPH_IMPORT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/onnx/import_options.h"
#include "graph/onnx/model_file.h"

namespace partita {

// The model of a file; an error names the file.
absl::StatusOr<std::unique_ptr<ModelFile>> OpenModel(const std::string& path);

// The same error, of this file.
absl::Status AtFile(const std::string& path, const absl::Status& status);

// Translates node by node, gathering every fault on the way; ImportOnnx without
// the reading of the file.
absl::StatusOr<Module> ImportGraph(const ModelFile& model,
                                   const ImportOptions& options);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_GRAPH_IMPORT_H_
