// Which bytes of a value a run of bytes shows, where it shows them in blocks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ROOT_BYTES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ROOT_BYTES_H_

#include <cstdint>

namespace partita {

// From byte `byte` on, or, with a block: the rest of the block at `byte`, of
// which `done` bytes are passed, then the block `stride` bytes further, and so
// on. So a column of a matrix is one of these, however many rows it has.
struct RootBytes {
  // `count` blocks; one block, or blocks that touch, are bytes in a row.
  static RootBytes Blocks(int64_t byte, int64_t block, int64_t count,
                          int64_t stride);

  friend bool operator==(const RootBytes&, const RootBytes&) = default;
  // The byte that comes first, and how many from there lie in a row.
  int64_t first() const { return byte + done; }
  int64_t in_a_row() const;
  // Passes over `bytes`.
  void Shift(int64_t bytes);

  int64_t byte = 0;
  int64_t block = 0;   // 0: no end
  int64_t stride = 0;  // of blocks
  int64_t done = 0;    // less than block
};

// How many bytes, of the first `size`, are the same in both. Takes a few looks:
// blocks that are not the same part at the end of the first or second of them.
int64_t Agreement(RootBytes a, RootBytes b, int64_t size);

// True if `size` bytes as in `bytes` and then `next_size` as in `next` are one
// RootBytes, which `bytes` then is.
bool Extend(RootBytes& bytes, int64_t size, const RootBytes& next,
            int64_t next_size);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ROOT_BYTES_H_
