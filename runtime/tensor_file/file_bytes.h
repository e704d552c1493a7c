// Bytes of a file, and tensors stored in them.
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

// Bytes that are mapped from a file, or decompressed from one.
struct FileBytes {
  // The bytes from `offset` on, with the same owner.
  FileBytes From(size_t offset) const;

  std::string source;  // for messages: the path, and the member's name
  absl::Span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // of the bytes; null: the caller
};

absl::StatusOr<FileBytes> MapFile(const std::string& path);

// `bytes` that the caller keeps alive.
FileBytes BorrowedBytes(absl::string_view bytes, absl::string_view source);

// A row-major tensor. Its elements may be unaligned, and a bool may be any
// byte.
struct FileTensor {
  // A copy in its own memory: aligned, bools 0 or 1.
  HostTensor Copy() const;

  TensorType type;
  FileBytes elements;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_FILE_BYTES_H_
