// Storage, mapping and hashing of constants.
// SPDX-License-Identifier: Apache-2.0

#include "graph/literal_pool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace partita {

std::string ContentHash::ToString() const {
  return absl::StrFormat("%016x%016x", high, low);
}

ContentHash HashBytes(absl::Span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::optional<ContentHash> ParseContentHash(absl::string_view hex) {
  ContentHash hash;
  if (hex.size() != 32 || !absl::SimpleHexAtoi(hex.substr(0, 16), &hash.high) ||
      !absl::SimpleHexAtoi(hex.substr(16), &hash.low) ||
      hash.ToString() != hex) {
    return std::nullopt;
  }
  return hash;
}

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(
    const std::string& path) {
  // Non-blocking: a pipe of this name is refused below, without waiting.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot be opened: ", std::strerror(errno),
                     "; expected a file that can be read; correct its name or "
                     "its rights"));
  }
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": found no regular file; expected one; name a file"));
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  const size_t size = static_cast<size_t>(status.st_size);
  void* bytes = nullptr;
  if (size > 0) {
    bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  const int error = errno;
  close(fd);
  if (bytes == MAP_FAILED) {
    return absl::UnavailableError(
        absl::StrCat(path, ": cannot be mapped: ", std::strerror(error)));
  }
  file->bytes_ = {static_cast<const std::byte*>(bytes), size};
  return file;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

struct LiteralPool::AlignedCopy {
  std::once_flag once;
  HostTensor tensor;
};

LiteralId LiteralPool::Add(HostTensor tensor) {
  return AddShared(std::make_shared<const HostTensor>(std::move(tensor)));
}

LiteralId LiteralPool::AddShared(std::shared_ptr<const HostTensor> tensor) {
  literals_.emplace_back().tensor = std::move(tensor);
  return LiteralId(size() - 1);
}

LiteralId LiteralPool::AddMapped(TensorType type,
                                 std::shared_ptr<const MappedFile> file,
                                 int64_t offset,
                                 std::optional<ContentHash> hash) {
  Literal& literal = literals_.emplace_back();
  // The mapping must begin at a page.
  if (offset % (BitsOf(type.dtype) / 8) != 0) {
    literal.aligned = std::make_shared<AlignedCopy>();
  }
  literal.tensor = std::make_shared<const HostTensor>(
      HostTensor::ConstView(std::move(type), file->bytes().data() + offset));
  literal.file = std::move(file);
  literal.offset = offset;
  literal.hash = hash;
  return LiteralId(size() - 1);
}

LiteralId LiteralPool::AddDeclared(TensorType type, ContentHash hash) {
  Literal& literal = literals_.emplace_back();
  literal.tensor = std::make_shared<const HostTensor>(
      HostTensor::View(std::move(type), nullptr));
  literal.declared = true;
  literal.hash = hash;
  return LiteralId(size() - 1);
}

const TensorType& LiteralPool::type(LiteralId id) const {
  return literals_[id.index].tensor->type();
}

bool LiteralPool::has_bytes(LiteralId id) const {
  return !literals_[id.index].declared;
}

absl::Span<const std::byte> LiteralPool::byte_span(LiteralId id) const {
  return literals_[id.index].tensor->byte_span();
}

const HostTensor& LiteralPool::tensor(LiteralId id) const {
  const Literal& literal = literals_[id.index];
  if (literal.aligned == nullptr) return *literal.tensor;
  std::call_once(literal.aligned->once, [&literal] {
    literal.aligned->tensor = literal.tensor->Clone();
  });
  return literal.aligned->tensor;
}

const ContentHash& LiteralPool::hash(LiteralId id) const {
  const Literal& literal = literals_[id.index];
  if (!literal.hash.has_value()) {
    literal.hash = HashBytes(byte_span(id));
  }
  return *literal.hash;
}

std::optional<LiteralPool::FileRange> LiteralPool::file_range(
    LiteralId id) const {
  const Literal& literal = literals_[id.index];
  if (literal.file == nullptr) return std::nullopt;
  return FileRange{literal.file.get(), literal.offset};
}

}  // namespace partita
