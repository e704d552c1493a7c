// NumPy's tensors: .npy files, formats 1 to 3.
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
// only the header. Any bytes are safe.
absl::StatusOr<FileTensor> OpenNpy(const FileBytes& file);
// The same tensor, copied.
absl::StatusOr<HostTensor> ParseNpy(absl::string_view bytes,
                                    absl::string_view source);
// The text of a .npy file for NumPy's load. bf16, which NumPy lacks, is written
// as in the package ml_dtypes: `load(...).view(ml_dtypes.bfloat16)` reads it.
std::string NpyText(const HostTensor& tensor);

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_NPY_H_
