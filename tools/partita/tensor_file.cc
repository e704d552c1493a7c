// Reads tensors by the extension of their file.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/tensor_file.h"

#include "absl/strings/match.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/npy.h"

namespace partita {

absl::StatusOr<HostTensor> ReadTensor(const std::string& path) {
  if (absl::EndsWith(path, ".pb")) return ReadTensorFile(path);
  if (!absl::EndsWith(path, ".npy")) {
    return BadFile(path, "another ending", ".npy or .pb");
  }
  PARTITA_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  PARTITA_ASSIGN_OR_RETURN(const FileTensor tensor, OpenNpy(file));
  return tensor.Copy();
}

}  // namespace partita
