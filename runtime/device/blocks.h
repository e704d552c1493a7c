// Bytes in the memory of a device: one block, or several with a stride.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_BLOCKS_H_
#define PARTITA_RUNTIME_DEVICE_BLOCKS_H_

#include <cstddef>
#include <cstdint>

namespace partita {

// `count` blocks of `block` bytes, `stride` bytes from start to start.
struct Blocks {
  int64_t size() const { return block * count; }
  // Also true if there are no bytes, however they are written.
  bool contiguous() const {
    return count == 1 || stride == block || size() == 0;
  }

  std::byte* base = nullptr;
  int64_t block = 0;
  int64_t count = 1;
  int64_t stride = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_BLOCKS_H_
