// How the threads of a GPU share the work of a program: plain data, for the
// emitter and for those who launch its kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_
#define PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_

#include <cstdint>

#include "kernels/codegen/index_program.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/row_program.h"

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
// Threads that a multiprocessor of sm_80 or later holds with 80 of its 65,536
// registers each. No limit, or one of 64, makes ptxas spill in some kernels.
inline constexpr unsigned kGpuThreadsWithRegisters = 768;
// Threads of a warp, which shuffles connect.
inline constexpr int kGpuWarpThreads = 32;
// Bytes of the widest access.
inline constexpr int64_t kWidestGpuAccess = 16;
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
GroupAccess GroupAccessOf(const ProgramOperand& operand, int group);

// How the threads of a block share rows. The accumulators of a row
// (row_program.h) are dealt to its threads in groups of neighbours, and so are
// its elements, group by group.
struct GpuRowShape {
  int group = 1;        // accumulators of a thread; a power of two
  int row_threads = 1;  // of one row; a power of two
  int block_rows = 1;   // at once; one if a row has more than a warp's threads
  unsigned block_threads() const {
    return static_cast<unsigned>(row_threads * block_rows);
  }
};
GpuRowShape RowShapeOf(const RowProgram& program);

// True if the groups of elements are whole and on one line of the innermost
// loop, so that they can be read and stored in accesses of several elements.
bool HasWholeGroups(const RowProgram& program);

// Any number of blocks computes all rows: block b of n has rows b, b + n, ...
// or as many at once as it holds. It has exactly the shape's threads.
GpuLaunch LaunchOf(const RowProgram& program, int multiprocessors);

// The points that one thread computes at once: `rows` neighbours in one loop
// times a group of neighbours in the innermost one. What does not depend on a
// loop is read and computed once for all its neighbours, so that a matmul's
// thread reads each element of an operand for several products.
struct IndexTile {
  int rows_loop = 0;
  int rows = 1;   // divides the loop's extent
  int group = 1;  // divides the innermost extent; accesses have up to 16 bytes
  int points() const { return rows * group; }
};
IndexTile TileOf(const IndexProgram& program);
// Instructions of a thread for one tile.
double InstructionsOf(const IndexProgram& program, const IndexTile& tile);

// One tile for each thread, like the next one's groups.
GpuLaunch LaunchOf(const IndexProgram& program, int multiprocessors);

// As many threads as the part with the most tiles needs; each computes its
// tiles of one part after the other.
GpuLaunch LaunchOf(const JoinedProgram& program, int multiprocessors);

// One group for each thread, up to what a device of so many multiprocessors
// holds at once a few times over.
GpuLaunch LaunchOf(const ElementwiseProgram& program, int multiprocessors);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_
