// Reads a model file and imports its graph.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/import.h"

#include "absl/strings/str_cat.h"
#include "graph/onnx/graph_import.h"
#include "graph/onnx/model_file.h"
#include "graph/status_macros.h"

namespace partita {

absl::Status AtFile(const std::string& path, const absl::Status& status) {
  return ReplaceMessage(status, absl::StrCat(path, ": ", status.message()));
}

absl::StatusOr<std::unique_ptr<ModelFile>> OpenModel(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  absl::StatusOr<std::unique_ptr<ModelFile>> model =
      ReadModelFile(std::move(file));
  if (!model.ok()) return AtFile(path, model.status());
  return model;
}

absl::StatusOr<Module> ImportOnnx(const std::string& path,
                                  const ImportOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> model,
                           OpenModel(path));
  absl::StatusOr<Module> module = ImportGraph(*model, options);
  if (!module.ok()) return AtFile(path, module.status());
  return module;
}

}  // namespace partita
