// Converts a parsed ONNX graph into a module.
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

// The same error, with the file's name.
absl::Status AtFile(const std::string& path, const absl::Status& status);

// Translates node by node and collects all errors; ImportOnnx without reading
// the file.
absl::StatusOr<Module> ImportGraph(const ModelFile& model,
                                   const ImportOptions& options);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_GRAPH_IMPORT_H_
