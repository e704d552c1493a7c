// Runs the threads of a kernel.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_EXECUTOR_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_EXECUTOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "testing/emulated_gpu/ptx/memory.h"
#include "testing/emulated_gpu/ptx/module.h"

namespace partita::ptx {

struct Extents {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

struct LaunchOptions {
  NanRules nan = NanRules::kCanonical;
  // The order of blocks, and of threads in a block: ascending for 0, else one
  // drawn from the seed.
  uint64_t seed = 0;
  // Of all threads. A launch that takes more has an endless loop. Time is in
  // proportion to the instructions that run, memory to a kernel's registers
  // and, in a drawn order, to the blocks.
  uint64_t most_instructions = uint64_t{1} << 36;
};

// Runs every thread of the grid, block by block. Within a block each thread
// runs to its end, or to a barrier or a shuffle, where it waits for the others:
// kernels cannot tell the difference, unless they race. A value for each
// parameter, as bits. InvalidArgument for a launch that a driver refuses; the
// memory's error. With line, block and thread: FailedPrecondition for a
// misaligned address; DataLoss for a register or shared memory that is read
// before it is written; OutOfRange outside of shared variables; Aborted for a
// race in shared memory; DeadlineExceeded for an endless loop, and for a
// barrier or shuffle that not all of its threads reach.
absl::Status Launch(const Kernel& kernel, Extents grid, Extents block,
                    absl::Span<const uint64_t> parameters, Memory& memory,
                    const LaunchOptions& options = {});

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_EXECUTOR_H_
