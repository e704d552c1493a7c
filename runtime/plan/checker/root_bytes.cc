// Iterates over, compares and merges blocks of bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/root_bytes.h"

#include <algorithm>
#include <limits>

namespace partita {

RootBytes RootBytes::Blocks(int64_t byte, int64_t block, int64_t count,
                            int64_t stride) {
  if (count <= 1 || stride == block || block == 0) return {.byte = byte};
  return {.byte = byte, .block = block, .stride = stride};
}

int64_t RootBytes::in_a_row() const {
  return block == 0 ? std::numeric_limits<int64_t>::max() : block - done;
}

void RootBytes::Shift(int64_t bytes) {
  if (block == 0) {
    byte += bytes;
    return;
  }
  const int64_t passed = done + bytes;
  byte += passed / block * stride;
  done = passed % block;
}

int64_t Agreement(RootBytes a, RootBytes b, int64_t size) {
  int64_t agreed = 0;
  while (agreed < size && a != b) {
    if (a.first() != b.first()) return agreed;
    const int64_t step = std::min({a.in_a_row(), b.in_a_row(), size - agreed});
    a.Shift(step);
    b.Shift(step);
    agreed += step;
  }
  return size;
}

bool Extend(RootBytes& bytes, int64_t size, const RootBytes& next,
            int64_t next_size) {
  RootBytes after = bytes;
  after.Shift(size);
  if (after == next) return true;
  if (next.in_a_row() < next_size) return false;
  if (after.first() == next.first() && after.in_a_row() >= next_size) {
    return true;
  }
  if (bytes.in_a_row() < size) return false;
  // Only one block so far: the next block continues it, or defines the stride.
  if (bytes.first() + size == next.first()) {
    bytes = {.byte = bytes.first()};
    return true;
  }
  if (next_size > size) return false;
  bytes = {.byte = bytes.first(),
           .block = size,
           .stride = next.first() - bytes.first()};
  return true;
}

}  // namespace partita
