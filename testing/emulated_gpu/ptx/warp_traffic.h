// What the accesses of warps move between a GPU's memory and its threads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_WARP_TRAFFIC_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_WARP_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "testing/emulated_gpu/ptx/memory.h"

namespace partita::ptx {

// Memory moves in sectors, aligned (CUDA C++ Best Practices Guide, coalesced
// access to global memory).
inline constexpr uint64_t kSectorBytes = 32;

// Of one instruction of a kernel, in all warps of a launch.
struct WarpTraffic {
  bool writes = false;
  int access_bytes = 0;   // of one thread
  uint64_t accesses = 0;  // of warps
  uint64_t asked = 0;     // bytes, each once in an access of a warp
  uint64_t sectors = 0;   // that hold these bytes
  uint64_t fewest = 0;    // that would hold as many, if they were neighbours
};

// Passes accesses on to a memory, and counts them. The n-th access of an
// instruction by each thread of a warp are one access of the warp, as while its
// threads run together; those that leave an access of a loop out are counted
// with a later one.
class WarpTrafficMemory : public Memory {
 public:
  // `memory` outlives this.
  explicit WarpTrafficMemory(Memory& memory) : memory_(memory) {}

  absl::Status Read(const Access& access, std::byte* to) override;
  absl::Status Write(const Access& access, const std::byte* from) override;

  // After a launch: by line of the PTX text.
  std::map<int, WarpTraffic> Traffic();

 private:
  using Bytes = std::pair<uint64_t, uint64_t>;  // [begin, end)
  struct Instruction {
    std::map<uint32_t, uint64_t> done;  // accesses, by thread
    // By warp, then by number.
    std::map<uint32_t, std::vector<std::vector<Bytes>>> accesses;
  };

  void Note(const Access& access, bool writes);
  static void Count(std::vector<Bytes>& access, WarpTraffic& traffic);
  void EndBlock();

  Memory& memory_;
  uint64_t block_ = 0;
  std::map<int, Instruction> of_block_;  // by line
  std::map<int, WarpTraffic> traffic_;
};

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_WARP_TRAFFIC_H_
