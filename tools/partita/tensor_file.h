// Tensors in files: .npy (NumPy format 1 to 3) and .pb (ONNX test data).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TENSOR_FILE_H_
#define PARTITA_TOOLS_PARTITA_TENSOR_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"

namespace partita {

// By the file's ending.
absl::StatusOr<HostTensor> ReadTensor(const std::string& path);

// A .npy file's bytes: little-endian numbers or bools in C order. Any bytes are
// safe to parse.
absl::StatusOr<HostTensor> ParseNpy(absl::string_view bytes,
                                    absl::string_view source);
// What NumPy's load reads. InvalidArgument for bf16, which NumPy has not.
absl::StatusOr<std::string> NpyText(const HostTensor& tensor);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TENSOR_FILE_H_
