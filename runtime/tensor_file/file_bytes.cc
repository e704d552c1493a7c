// Maps, borrows and copies bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/file_bytes.h"

#include <cstring>
#include <utility>

#include "graph/literal_pool.h"
#include "graph/status_macros.h"

namespace partita {

FileBytes FileBytes::From(size_t offset) const {
  return {source, bytes.subspan(offset), owner};
}

absl::StatusOr<FileBytes> MapFile(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  const absl::Span<const std::byte> bytes = file->bytes();
  return FileBytes{path, bytes, std::move(file)};
}

FileBytes BorrowedBytes(absl::string_view bytes, absl::string_view source) {
  return {std::string(source),
          {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
          nullptr};
}

HostTensor FileTensor::Copy() const {
  HostTensor tensor(type);
  const size_t size = tensor.byte_span().size();
  if (size > 0) std::memcpy(tensor.bytes(), elements.bytes.data(), size);
  NormalizeBools(tensor);
  return tensor;
}

}  // namespace partita
