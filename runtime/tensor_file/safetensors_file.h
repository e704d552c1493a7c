// Reads tensors by name from a safetensors file
// (https://huggingface.co/docs/safetensors).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_FILE_H_
#define PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_FILE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {

// Reads the header; tensors stay in the file. Thread safety: may be read from
// many threads.
class SafetensorsFile {
 public:
  // Refuses what ParseSafetensorsHeader refuses, and tensors that overlap,
  // leave bytes unused or are outside the file. Any bytes are safe.
  static absl::StatusOr<SafetensorsFile> Parse(FileBytes file);
  // Maps the file.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  struct Entry {
    std::string name;
    FileTensor tensor;
  };
  // In the order of their bytes.
  const std::vector<Entry>& entries() const { return entries_; }
  // Null if there is none.
  const FileTensor* Find(absl::string_view name) const;
  const std::map<std::string, std::string>& metadata() const {
    return metadata_;
  }

  // InvalidArgument, with the first differences, unless the file holds exactly
  // the `expected` tensors with their types.
  absl::Status ExpectTensors(
      absl::Span<const std::pair<std::string, TensorType>> expected) const;

 private:
  std::string source_;
  std::vector<Entry> entries_;
  absl::flat_hash_map<std::string, int> by_name_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_FILE_H_
