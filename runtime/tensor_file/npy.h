// NumPy's tensors: .npy files, format 1 to 3.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_NPY_H_
#define PARTITA_RUNTIME_TENSOR_FILE_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {

// The tensor of a .npy file: little-endian numbers or bools in C order. Reads
// the header only. Any bytes are safe to parse.
absl::StatusOr<FileTensor> OpenNpy(const FileBytes& file);
// The same, copied.
absl::StatusOr<HostTensor> ParseNpy(absl::string_view bytes,
                                    absl::string_view source);
// What NumPy's load reads. bf16, which NumPy has not, is written as the package
// ml_dtypes does: `load(...).view(ml_dtypes.bfloat16)` reads it.
std::string NpyText(const HostTensor& tensor);

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_NPY_H_
