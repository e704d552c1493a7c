// How the threads of a GPU share the work of a program: plain data, for the
// emitter and for those who launch its kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_
#define PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_

#include <cstdint>

#include "kernels/codegen/program.h"

namespace partita {

// A kernel's parameters are the addresses of the operands, then those of the
// results, 8 bytes each. An address is aligned to the element; accesses are
// wider where it is aligned to more.
//
// Any launch of one dimension computes all results: thread t of n threads has
// the groups t, t + n, t + 2 n, ... of neighbouring elements.
struct GpuLaunch {
  unsigned blocks = 1;
  unsigned threads = 1;  // of a block
};

// Threads of a block; no kernel takes more.
inline constexpr unsigned kGpuBlockThreads = 256;
// Threads of a launch; no kernel takes more, as it counts in 32 bits.
inline constexpr int64_t kMostGpuThreads = int64_t{1} << 30;

int64_t NumElements(const ElementwiseProgram& program);

// How many neighbouring elements a thread computes at once: the widest accesses
// have 16 bytes then, where the loops allow. A power of two. The elements of a
// group are on one line of the innermost loop, except for the last group, if
// the program is a single loop.
int GroupElements(const ElementwiseProgram& program);

// How a thread reads an operand's elements for a group.
enum class GroupAccess : uint8_t {
  kOnce,        // the same element for all
  kNeighbours,  // one access of all, aligned to its size
  kEach,        // one by one
};
GroupAccess GroupAccessOf(const ElementwiseProgram& program,
                          const ProgramOperand& operand, int group);

// One group for each thread, up to what a device of so many multiprocessors
// holds at once a few times over.
GpuLaunch LaunchOf(const ElementwiseProgram& program, int multiprocessors);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_
