// Runs of bytes that are contiguous in two lists of blocks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_RUNS_H_
#define PARTITA_RUNTIME_DEVICE_RUNS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/device/blocks.h"

namespace partita {

// Calls visit(to, from, bytes) for the longest runs, in order, until it returns
// false. `to` and `from` have equal numbers of bytes.
template <typename Visit>
void ForEachRun(const Blocks& to, const Blocks& from, Visit visit) {
  const int64_t bytes = to.size();
  if (bytes == 0) return;
  if (to.contiguous() && from.contiguous()) {
    visit(to.base, from.base, bytes);
    return;
  }
  for (int64_t done = 0; done < bytes;) {
    const int64_t to_inside = done % to.block;
    const int64_t from_inside = done % from.block;
    const int64_t run =
        std::min(to.block - to_inside, from.block - from_inside);
    if (!visit(to.base + (done / to.block) * to.stride + to_inside,
               from.base + (done / from.block) * from.stride + from_inside,
               run)) {
      return;
    }
    done += run;
  }
}

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_RUNS_H_
