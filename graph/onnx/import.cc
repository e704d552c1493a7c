// Reads a model file and hands its graph on.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/import.h"

#include "absl/strings/str_cat.h"
#include "graph/onnx/graph_import.h"
#include "graph/onnx/model_file.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::StatusOr<Module> Import(std::shared_ptr<const MappedFile> file,
                              const ImportOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> model,
                           ReadModelFile(std::move(file)));
  return ImportGraph(*model, options);
}

}  // namespace

absl::StatusOr<Module> ImportOnnx(const std::string& path,
                                  const ImportOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  absl::StatusOr<Module> module = Import(std::move(file), options);
  if (module.ok()) return module;
  return Reworded(module.status(),
                  absl::StrCat(path, ": ", module.status().message()));
}

}  // namespace partita
