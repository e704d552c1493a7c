// Writes tensors to a safetensors file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_WRITER_H_
#define PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_WRITER_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor_type.h"

namespace partita {

// A tensor whose bytes the caller keeps alive until it is written. Bools are 0
// or 1.
struct NamedTensor {
  std::string name;
  TensorType type;  // row-major
  absl::Span<const std::byte> bytes;
};

// The bytes before the tensors, and the order of tensors.
struct SafetensorsLayout {
  std::string head;        // the header's length, then the header
  std::vector<int> order;  // of the tensors: wide dtypes first, then by name
};

// The same bytes as the format's own library. InvalidArgument for a name that
// is repeated, is `__metadata__` or is not UTF-8, a layout that is not
// row-major, and bytes of another size than the type's.
absl::StatusOr<SafetensorsLayout> LayOutSafetensors(
    absl::Span<const NamedTensor> tensors,
    const std::map<std::string, std::string>& metadata);

// The file appears complete or not at all, and is on disk when this returns.
// The same tensors and metadata, in any order, give the same bytes.
absl::Status WriteSafetensors(
    const std::string& path, absl::Span<const NamedTensor> tensors,
    const std::map<std::string, std::string>& metadata = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_WRITER_H_
