// Reads tensors by the format of their file.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/tensor_file.h"

#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "partita/options/recognize_file.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/npy.h"

namespace partita {

absl::StatusOr<HostTensor> ReadTensor(const std::string& path) {
  const FileKind kind = KindOfFile(path);
  if (kind == FileKind::kOnnxTensor) return ReadTensorFile(path);
  PARTITA_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  if (kind != FileKind::kNpy) {
    return BadFile(path, NameOf(kind), NamesOf(kTensorFiles),
                   "save an array by numpy.save");
  }
  PARTITA_ASSIGN_OR_RETURN(const FileTensor tensor, OpenNpy(file));
  return tensor.Copy();
}

}  // namespace partita
