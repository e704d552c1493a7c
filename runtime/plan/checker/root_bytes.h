// A sequence of bytes of a value: contiguous, or in strided blocks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ROOT_BYTES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ROOT_BYTES_H_

#include <cstdint>

namespace partita {

// The bytes from `byte` on. If `block` is set: the block at `byte` without its
// first `done` bytes, then the block `stride` bytes further, and so on. A
// column of a matrix is one RootBytes, however many rows it has.
struct RootBytes {
  // `count` blocks. One block, or adjacent blocks, are contiguous bytes.
  static RootBytes Blocks(int64_t byte, int64_t block, int64_t count,
                          int64_t stride);

  friend bool operator==(const RootBytes&, const RootBytes&) = default;
  // The first byte, and the number of contiguous bytes from there.
  int64_t first() const { return byte + done; }
  int64_t in_a_row() const;
  // Skips `bytes` bytes.
  void Shift(int64_t bytes);

  int64_t byte = 0;
  int64_t block = 0;   // 0: contiguous without end
  int64_t stride = 0;  // from block to block
  int64_t done = 0;    // bytes of the first block to skip; less than `block`
};

// The number of equal bytes at the start of both, among the first `size`.
// Compares a few blocks: two different sequences differ at the end of their
// first or second block.
int64_t Agreement(RootBytes a, RootBytes b, int64_t size);

// If `size` bytes of `bytes` followed by `next_size` bytes of `next` are one
// RootBytes, sets `bytes` to it and returns true.
bool Extend(RootBytes& bytes, int64_t size, const RootBytes& next,
            int64_t next_size);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ROOT_BYTES_H_
