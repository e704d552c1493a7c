// Programs that together use every instruction of generated code, with
// operands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_PROGRAMS_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_PROGRAMS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/op_view.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/program_builder.h"

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

// The index of the first element that differs, -1 if there is none. NaN equals
// NaN: its bits are the processor's.
int64_t FirstDifference(ScalarType type, absl::Span<const std::byte> a,
                        absl::Span<const std::byte> b);

// "0x7fc00000": an element's bits.
std::string ElementText(ScalarType type, absl::Span<const std::byte> elements,
                        int64_t index);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_PROGRAMS_H_
