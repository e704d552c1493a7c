// Tensors in files: .npy (NumPy) and .pb (ONNX test data).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TENSOR_FILE_H_
#define PARTITA_TOOLS_PARTITA_TENSOR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/host_tensor.h"

namespace partita {

// By the file's bytes (recognize_file.h).
absl::StatusOr<HostTensor> ReadTensor(const std::string& path);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TENSOR_FILE_H_
