// A map by address.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/guarded_blocks.h"

#include <cstring>

#include "absl/strings/str_format.h"

namespace partita::ptx {
namespace {

constexpr uint64_t kPage = 4096;
// What a kernel may be wrong by without reaching the next block.
constexpr uint64_t kGap = uint64_t{1} << 32;

}  // namespace

uint64_t GuardedBlocks::Add(absl::Span<std::byte> bytes, Permission permission,
                            int shift) {
  const uint64_t address = next_ + static_cast<uint64_t>(shift);
  blocks_[address] = {bytes, permission};
  next_ += (bytes.size() + kGap + kPage) / kPage * kPage;
  return address;
}

std::byte* GuardedBlocks::Find(const Access& access, bool is_write,
                               absl::Status& status) {
  auto after = blocks_.upper_bound(access.address);
  if (after != blocks_.begin()) {
    const auto& [begin, block] = *--after;
    const uint64_t offset = access.address - begin;
    const uint64_t size = block.bytes.size();
    if (offset <= size &&
        static_cast<uint64_t>(access.bytes) <= size - offset) {
      if (!is_write || block.permission == Permission::kReadAndWrite) {
        return block.bytes.data() + offset;
      }
    }
  }
  status = absl::OutOfRangeError(absl::StrFormat(
      "found %s of %d bytes at %#x; expected bytes of a block that may be %s",
      is_write ? "a write" : "a read", access.bytes, access.address,
      is_write ? "written" : "read"));
  return nullptr;
}

absl::Status GuardedBlocks::Read(const Access& access, std::byte* to) {
  absl::Status status;
  const std::byte* from = Find(access, /*is_write=*/false, status);
  if (from != nullptr) std::memcpy(to, from, access.bytes);
  return status;
}

absl::Status GuardedBlocks::Write(const Access& access, const std::byte* from) {
  absl::Status status;
  std::byte* to = Find(access, /*is_write=*/true, status);
  if (to != nullptr) std::memcpy(to, from, access.bytes);
  return status;
}

}  // namespace partita::ptx
