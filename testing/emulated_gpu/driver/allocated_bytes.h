// What programs have allocated of an emulated machine.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_ALLOCATED_BYTES_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_ALLOCATED_BYTES_H_

#include <cstdint>
#include <vector>

namespace partita::emulated_gpu {

// Bytes that calls asked for and that were not freed, without what the driver
// rounds them up to.
struct AllocatedBytes {
  std::vector<int64_t> of_gpu;  // cuMemAlloc, by number
  int64_t page_locked = 0;      // cuMemHostAlloc
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_ALLOCATED_BYTES_H_
