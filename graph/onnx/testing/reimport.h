// Functions that were exported and read back, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_TESTING_REIMPORT_H_
#define PARTITA_GRAPH_ONNX_TESTING_REIMPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/onnx/export/export.h"

namespace partita {

// The chunks joined, as in a file.
std::string BytesOf(const std::vector<FileChunk>& chunks);

// Writes the files to a folder of this process, and returns the model's path,
// the same for every call.
std::string WriteFiles(const ExportedModel& exported,
                       const std::string& weight_file = "");

// The function after an export and an import, as @main.
absl::StatusOr<Module> Reimported(const Module& module,
                                  absl::string_view function,
                                  const ExportOptions& options = {});

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_TESTING_REIMPORT_H_
