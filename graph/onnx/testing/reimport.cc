// Writes and reads models in a test's folder.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/testing/reimport.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "graph/onnx/import.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// A file that an import has mapped must not change.
void WriteAnew(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

std::string BytesOf(const std::vector<FileChunk>& chunks) {
  std::string bytes;
  for (const FileChunk& chunk : chunks) {
    bytes += chunk.head;
    bytes.append(reinterpret_cast<const char*>(chunk.weight.data()),
                 chunk.weight.size());
  }
  return bytes;
}

std::string WriteFiles(const ExportedModel& exported,
                       const std::string& weight_file) {
  const char* given = std::getenv("TEST_TMPDIR");
  const std::string folder =
      absl::StrCat(given == nullptr ? "/tmp" : given, "/export_", getpid());
  std::filesystem::create_directories(folder);
  if (!exported.weights.empty()) {
    WriteAnew(absl::StrCat(folder, "/", weight_file),
              BytesOf(exported.weights));
  }
  const std::string path = absl::StrCat(folder, "/model.onnx");
  WriteAnew(path, BytesOf(exported.model));
  return path;
}

absl::StatusOr<Module> Reimported(const Module& module,
                                  absl::string_view function,
                                  const ExportOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const ExportedModel exported,
                           ExportOnnx(module, function, options));
  // A declared extent of 0 counts as open.
  const Graph& graph = *module.FindFunction(function);
  ImportOptions import;
  for (const ValueId input : graph.inputs()) {
    const Shape& dims = graph.type(input).dims;
    import.shapes[graph.value(input).name] = {dims.begin(), dims.end()};
  }
  return ImportOnnx(WriteFiles(exported, options.weight_file), import);
}

}  // namespace partita
