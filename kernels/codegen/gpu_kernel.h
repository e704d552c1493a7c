// How the threads of a GPU share the work of a program: plain data, for the
// emitter and for those who launch its kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_
#define PARTITA_KERNELS_CODEGEN_GPU_KERNEL_H_

#include <cstdint>

#include "kernels/codegen/index_program.h"
#include "kernels/codegen/index_tile.h"
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
// Registers of 4 bytes: of a multiprocessor of sm_80 or later, and of a thread.
inline constexpr int64_t kGpuRegisters = 65536;
inline constexpr int64_t kMostThreadRegisters = 255;
// What a thread needs beside its live words (live_words.h): addresses, and the
// coordinates of loops around them.
inline constexpr int64_t kRegistersForAddresses = 16;
// A thread computes as much at once as fits into these, so that 768 threads
// share a multiprocessor. One element may need more.
inline constexpr int64_t kUsualThreadRegisters = 80;
// Threads of a warp, which shuffles connect.
inline constexpr int kGpuWarpThreads = 32;
// Bytes of the widest access.
inline constexpr int64_t kWidestGpuAccess = 16;
// Threads of a launch; no kernel takes more, as it counts in 32 bits.
inline constexpr int64_t kMostGpuThreads = int64_t{1} << 30;

int64_t NumElements(const ElementwiseProgram& program);

// The live words of what a thread computes at once.
int64_t ThreadWords(const ElementwiseProgram& program);
int64_t ThreadWords(const RowProgram& program);
int64_t ThreadWords(const IndexProgram& program);
int64_t ThreadWords(const JoinedProgram& program);  // of the largest part

// True if a thread has registers for them. A kernel with more would keep values
// in memory.
bool FitsThread(int64_t thread_words);
// How many blocks of a kernel share a multiprocessor, so that each thread has
// registers for its live words; at least 1.
unsigned BlocksOfMultiprocessor(int64_t thread_words, unsigned block_threads);
// True if the assembler may compute several rounds of a loop over groups at
// once: it may take four times the registers then.
bool MayUnroll(int64_t thread_words);

// How many neighbouring elements a thread computes at once: the widest accesses
// have 16 bytes then, where the loops and its registers allow. A power of two.
// The elements of a group are on one line of the innermost loop, except for the
// last group, if the program is a single loop.
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
