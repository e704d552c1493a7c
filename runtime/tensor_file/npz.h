// NumPy's archives of tensors: .npz files.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_NPZ_H_
#define PARTITA_RUNTIME_TENSOR_FILE_NPZ_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor_file/file_bytes.h"
#include "runtime/tensor_file/zip.h"

namespace partita {

class NpzFile {
 public:
  // Reads the list of members. Any bytes are safe.
  static absl::StatusOr<NpzFile> Open(FileBytes archive);

  // The names under which the arrays were saved.
  std::vector<std::string> names() const;
  // Decompresses the array if it is compressed; otherwise it stays in the file.
  absl::StatusOr<FileTensor> Array(absl::string_view name) const;

 private:
  FileBytes archive_;
  std::vector<ZipMember> members_;  // members that end with .npy
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_NPZ_H_
