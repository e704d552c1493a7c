// The device's memory, as kernels see it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_MEMORY_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace partita::ptx {

// One access of one thread, aligned to its size.
struct Access {
  uint64_t address = 0;
  int bytes = 0;        // 1 to 16
  uint64_t block = 0;   // of the grid, in order
  uint32_t thread = 0;  // of the block, in order
  int line = 0;         // of the PTX text
};

// Answers every access of a launch; an error ends the launch. A memory may
// check bounds, races and undefined bytes.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual absl::Status Read(const Access& access, std::byte* to) = 0;
  virtual absl::Status Write(const Access& access, const std::byte* from) = 0;
};

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_MEMORY_H_
