// Programs that together use every instruction of generated code, with
// operands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_PROGRAMS_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_PROGRAMS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/op_view.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/program_builder.h"
#include "kernels/codegen_loader/testing/program_signature.h"

namespace partita {

struct SampleProgram {
  std::string what;  // "add of f32"
  ElementwiseProgram program;
  std::vector<std::vector<std::byte>> operands;
};

// The programs below, with names of their own. The same in every run.
std::vector<SampleProgram> SamplePrograms();

// One opcode each, with every type that it takes; and all casts.
std::vector<SampleProgram> SamplesOfOpcodes();
// The elementwise ops, with every dtype for which code is generated.
std::vector<SampleProgram> SamplesOfOps();
// Fused bodies of random ops.
std::vector<SampleProgram> SamplesOfChains(int count);
// Operands that are broadcast, transposed, or read with a stride.
std::vector<SampleProgram> SamplesOfStrides();
// One line of 1 to `most` elements, by type.
std::vector<SampleProgram> SamplesOfSizes(int most);

// Operands of a program: pairs of special values first (NaN, infinities,
// denormals, bounds of integers), then ordinary values and random bits.
std::vector<std::vector<std::byte>> SampleOperands(
    const ElementwiseProgram& program);

// `count` ordinary values, with special ones far between.
std::vector<std::byte> OrdinaryElements(ScalarType type, uint64_t seed,
                                        int64_t count);

// A formula over operands, as a program without a name for processors with fma.
ElementwiseProgram ProgramOf(
    std::vector<int64_t> loops, std::vector<ProgramOperand> operands,
    const std::function<std::vector<Register>(absl::Span<const Register>)>&
        formula);

// bias + gelu + residual over rows of columns, as transformers have it.
ElementwiseProgram BiasGeluResidual(int64_t rows, int64_t columns);

// The results of the program's interpreter.
std::vector<std::vector<std::byte>> InterpretedResults(
    const SampleProgram& sample);

// As program_signature.h has it.
absl::Status CheckResults(const SampleProgram& sample,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_PROGRAMS_H_
