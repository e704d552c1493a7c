// Bytes of a file and a tensor among them, where they lie.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_FILE_BYTES_H_
#define PARTITA_RUNTIME_TENSOR_FILE_FILE_BYTES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/host_tensor.h"

namespace partita {

// Mapped from a file, or unpacked from one.
struct FileBytes {
  // These bytes from `offset` on, kept by the same owner.
  FileBytes From(size_t offset) const;

  std::string source;  // for messages: the path, and a member's name if any
  absl::Span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes; null: the caller does
};

absl::StatusOr<FileBytes> MapFile(const std::string& path);

// `bytes` that the caller keeps.
FileBytes BorrowedBytes(absl::string_view bytes, absl::string_view source);

// A row-major tensor. Its elements may lie at any address, and a bool may be
// any byte.
struct FileTensor {
  // The same in memory of its own: aligned, bools 0 or 1.
  HostTensor Copy() const;

  TensorType type;
  FileBytes elements;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_FILE_BYTES_H_
