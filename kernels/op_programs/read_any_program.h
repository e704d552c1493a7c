// Reads a node of any op as a program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_READ_ANY_PROGRAM_H_
#define PARTITA_KERNELS_OP_PROGRAMS_READ_ANY_PROGRAM_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"
#include "kernels/codegen/any_program.h"

namespace partita {

// An elementwise program, one over rows, or an index program, in this order (of
// a matmul or convolution also with the elementwise ops that follow it),
// for an instruction set of CPUs or a GPU's, such as sm_90. Unimplemented,
// naming the cause, if the node is none of them, or has layouts that its
// program does not support. The program's name depends only on what the program
// depends on.
absl::StatusOr<AnyProgram> ReadAnyProgram(const OpView& node,
                                          absl::string_view isa);

enum class ProgramKind : uint8_t { kElementwise, kRows, kIndices };

// What a GPU does to compute a node, whatever layouts its values have now.
struct GpuWork {
  ProgramKind kind = ProgramKind::kElementwise;
  double instructions = 0;  // of all threads, each for the points that share it
  double longest = 0;       // of the instructions of one thread
  int64_t words = 0;        // live in a thread (live_words.h)
};
// Unimplemented as above, and for more live values than a thread has registers,
// so that no node is fused whose kernel would keep values in memory.
absl::StatusOr<GpuWork> CountGpuWork(const OpView& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_READ_ANY_PROGRAM_H_
