// The constant tensors of a module, which graphs refer to by id.
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

// XXH3 hash (128 bits) of the stored bytes; names a constant in text and plans.
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

// A file that is mapped read-only during the object's lifetime. The file must
// not change: reading truncated bytes ends the process (SIGBUS), and it is
// undefined whether in-place changes are seen. Replace such a file by renaming
// a new one over it.
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

// Literals are never changed or removed, so ids and references stay valid, and
// a copy of the pool shares their bytes. Weights stay in their mapped file
// until they are read. Thread safety: reads may run in parallel after the last
// addition, except hash(), which caches its result.
class LiteralPool {
 public:
  // Takes over the tensor's bytes.
  LiteralId Add(HostTensor tensor);
  // Adds bytes that several pools share.
  LiteralId AddShared(std::shared_ptr<const HostTensor> tensor);
  // Refers to type.num_bytes() bytes at `offset` of a mapped file, which is
  // kept open. The caller has checked that the file has them, and that bools
  // are 0 or 1. They need not be aligned. A known hash, as in a plan, is
  // trusted, so that no byte is read.
  LiteralId AddMapped(TensorType type, std::shared_ptr<const MappedFile> file,
                      int64_t offset,
                      std::optional<ContentHash> hash = std::nullopt);
  // A constant with only type and hash, as in parsed text.
  LiteralId AddDeclared(TensorType type, ContentHash hash);

  int size() const { return static_cast<int>(literals_.size()); }
  const TensorType& type(LiteralId id) const;
  // False for a literal with only type and hash: its bytes must not be read.
  bool has_bytes(LiteralId id) const;
  // The stored bytes; they may not be aligned for their dtype.
  absl::Span<const std::byte> byte_span(LiteralId id) const;
  // The aligned tensor. Misaligned bytes of a file are copied at the first
  // call, once for all copies of the pool.
  const HostTensor& tensor(LiteralId id) const;
  const ContentHash& hash(LiteralId id) const;
  // The position of the bytes in a mapped file, if they are in one.
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
