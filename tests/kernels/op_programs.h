// Programs of the samples of every op, for tests of generated kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_KERNELS_OP_PROGRAMS_H_
#define PARTITA_TESTS_KERNELS_OP_PROGRAMS_H_

#include <vector>

#include "graph/host_tensor.h"
#include "graph/ops/op_sample.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen_loader/testing/any_sample.h"

namespace partita {

// One sample of an op, its program and operands.
struct OpProgram {
  OpSample sample;
  AnySample program;
  std::vector<HostTensor> operands;
};

// Programs of the samples that have one, for GPUs, with operands. With
// `special` every fifth element of a float operand is NaN, infinite, or
// denormal. Names are numbers: equal programs are compiled each.
std::vector<OpProgram> ProgramsOf(const std::vector<OpSample>& samples,
                                  bool special);

// Those of the samples of all ops, also with other dtypes than f32.
std::vector<OpProgram> ProgramsOfSamples(bool special);

// A matmul, a batched one, a convolution, its transpose, and moves, of sizes
// whose threads have tiles of several rows where their steps share elements;
// and reductions of bytes.
std::vector<AnyProgram> TiledPrograms();

// Such a matmul and a convolution with few steps, to be interpreted.
std::vector<OpProgram> ThinTiledPrograms();

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_OP_PROGRAMS_H_
