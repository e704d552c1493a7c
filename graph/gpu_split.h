// One GPU in place of several devices of a plan: --split-gpu.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_GPU_SPLIT_H_
#define PARTITA_GRAPH_GPU_SPLIT_H_

#include <cstdint>

namespace partita {

// Each GPU stands for `shares` devices with consecutive numbers. A share has
// an arena, streams and a limit of memory of its own; shares compute on the
// same multiprocessors.
struct GpuSplit {
  static constexpr int kMostShares = 64;
  // A driver rounds large allocations up to this
  // (docs/reference/gpu_facts.md, memory.granularity).
  static constexpr int64_t kBlock = int64_t{2} << 20;

  // The number of the GPU that stands for device `number`, from 0 on.
  int GpuOf(int number) const { return number / shares; }
  // The bytes of a share, of memory that its GPU has: whole blocks, so that
  // arenas within their shares fit together.
  int64_t BytesOf(int64_t bytes) const {
    return shares == 1 ? bytes : bytes / shares / kBlock * kBlock;
  }
  bool splits() const { return shares > 1; }

  int shares = 1;  // 1..kMostShares
};

}  // namespace partita

#endif  // PARTITA_GRAPH_GPU_SPLIT_H_
