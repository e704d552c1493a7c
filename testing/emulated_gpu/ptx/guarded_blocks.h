// A memory of separate blocks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_GUARDED_BLOCKS_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_GUARDED_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/types/span.h"
#include "testing/emulated_gpu/ptx/memory.h"

namespace partita::ptx {

enum class Permission : uint8_t { kRead, kReadAndWrite };

// Blocks of the caller's bytes, far apart. An access must be inside one block.
class GuardedBlocks : public Memory {
 public:
  // The block's address: a multiple of 4096, and `shift`. The bytes must
  // outlive this.
  uint64_t Add(absl::Span<std::byte> bytes, Permission permission,
               int shift = 0);

  absl::Status Read(const Access& access, std::byte* to) override;
  absl::Status Write(const Access& access, const std::byte* from) override;

 private:
  struct Block {
    absl::Span<std::byte> bytes;
    Permission permission;
  };
  // The bytes of the access; null, and an error, if they are not in a block.
  std::byte* Find(const Access& access, bool is_write, absl::Status& status);

  std::map<uint64_t, Block> blocks_;  // by address
  uint64_t next_ = uint64_t{1} << 40;
};

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_GUARDED_BLOCKS_H_
