// The constant tensors of a module: bytes that graphs refer to by id.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_LITERAL_POOL_H_
#define PARTITA_GRAPH_LITERAL_POOL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"
#include "graph/ids.h"

namespace partita {

// 128 bits of XXH3 over the stored bytes; names a constant in text and plans.
struct ContentHash {
  std::string ToString() const;  // 32 hexadecimal digits
  friend auto operator<=>(const ContentHash&, const ContentHash&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const ContentHash& hash) {
    return H::combine(std::move(state), hash.high, hash.low);
  }
  uint64_t high = 0;
  uint64_t low = 0;
};

ContentHash HashBytes(absl::Span<const std::byte> bytes);
std::optional<ContentHash> ParseContentHash(absl::string_view hex);

// A file mapped read-only for as long as the object lives. It must stay as it
// is meanwhile: reading bytes that were cut off ends the process (SIGBUS), as
// with every mapped file, and bytes written in place may be seen or not.
// Replace such a file by renaming a new one over it.
class MappedFile {
 public:
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(
      const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::Span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile() = default;
  std::string path_;
  absl::Span<const std::byte> bytes_;
};

// Literals are never changed and never removed, so ids and references stay
// good, and a copy of the pool shares their bytes. Weights stay in their mapped
// file until somebody reads them. Thread safety: reads may run in parallel once
// nothing is added any more, except hash(), which remembers what it computed.
class LiteralPool {
 public:
  // Takes over the tensor's bytes.
  LiteralId Add(HostTensor tensor);
  // Bytes that several pools hold.
  LiteralId AddShared(std::shared_ptr<const HostTensor> tensor);
  // Refers to bytes of a mapped file, which is kept open. `offset` bytes from
  // its start must hold type.num_bytes(); the caller has checked that, and that
  // bools are 0 or 1. They need not be aligned. A hash that is known, as in a
  // plan, is believed, so that nothing is read.
  LiteralId AddMapped(TensorType type, std::shared_ptr<const MappedFile> file,
                      int64_t offset,
                      std::optional<ContentHash> hash = std::nullopt);
  // A constant of which only type and hash are known, as in text read back.
  LiteralId AddDeclared(TensorType type, ContentHash hash);

  int size() const { return static_cast<int>(literals_.size()); }
  const TensorType& type(LiteralId id) const;
  // False for a declared literal: its bytes must not be read.
  bool has_bytes(LiteralId id) const;
  // The bytes where they lie, perhaps not aligned for their dtype.
  absl::Span<const std::byte> byte_span(LiteralId id) const;
  // Aligned. Bytes of a file that are not are copied at the first call, once
  // for all copies of the pool.
  const HostTensor& tensor(LiteralId id) const;
  const ContentHash& hash(LiteralId id) const;
  // Where the bytes lie, if they lie in a mapped file.
  struct FileRange {
    const MappedFile* file;
    int64_t offset;
  };
  std::optional<FileRange> file_range(LiteralId id) const;

 private:
  struct AlignedCopy;
  struct Literal {
    std::shared_ptr<const HostTensor> tensor;
    std::shared_ptr<AlignedCopy> aligned;  // null where `tensor` is aligned
    std::shared_ptr<const MappedFile> file;
    int64_t offset = 0;
    bool declared = false;
    mutable std::optional<ContentHash> hash;
  };
  std::deque<Literal> literals_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_LITERAL_POOL_H_
