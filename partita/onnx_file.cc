// Writes the chunks of an exported model.
// SPDX-License-Identifier: Apache-2.0

#include "partita/onnx_file.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/literal_pool.h"
#include "graph/onnx/export/export.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status WriteChunks(const std::vector<FileChunk>& chunks,
                         const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  for (const FileChunk& chunk : chunks) {
    const auto* head = reinterpret_cast<const std::byte*>(chunk.head.data());
    PARTITA_RETURN_IF_ERROR(
        file->Write(absl::MakeConstSpan(head, chunk.head.size())));
    PARTITA_RETURN_IF_ERROR(file->Write(chunk.weight));
  }
  return file->Commit();
}

// True if the file of weights belongs to the model that is at `path` now.
bool HasWeights(const std::string& path, const std::string& weights) {
  std::error_code error;
  if (!std::filesystem::exists(weights, error)) return false;
  const auto model = MappedFile::Open(path);
  if (!model.ok()) return false;
  const absl::Span<const std::byte> bytes = (*model)->bytes();
  return absl::StrContains(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()),
                        bytes.size()),
      std::filesystem::path(weights).filename().string());
}

}  // namespace

absl::Status WriteOnnx(const Module& module, absl::string_view function,
                       const std::string& path,
                       const VariableValues& variables) {
  const std::string weights = absl::StrCat(path, ".data");
  ExportOptions options;
  options.variables = variables;
  options.weight_file = std::filesystem::path(weights).filename().string();
  PARTITA_ASSIGN_OR_RETURN(const ExportedModel exported,
                           ExportOnnx(module, function, options));
  if (!exported.weights.empty()) {
    PARTITA_RETURN_IF_ERROR(WriteChunks(exported.weights, weights));
    return WriteChunks(exported.model, path);
  }
  const bool leaves_weights = HasWeights(path, weights);
  PARTITA_RETURN_IF_ERROR(WriteChunks(exported.model, path));
  // A file that remains is harmless: no model refers to it.
  std::error_code error;
  if (leaves_weights) std::filesystem::remove(weights, error);
  return absl::OkStatus();
}

}  // namespace partita
