// Runs a program without compiling it: the same bits, slowly.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INTERPRET_H_
#define PARTITA_KERNELS_CODEGEN_INTERPRET_H_

#include <cstdint>
#include <vector>

#include "kernels/codegen/index_program.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/row_program.h"

namespace partita {

// Computes what the compiled function does. `registers` is scratch, one for
// each instruction.
void Interpret(const ElementwiseProgram& program, void* const* operands,
               void* const* results, int64_t begin, int64_t end,
               std::vector<uint64_t>& registers);

// The same for rows [begin, end).
void InterpretRows(const RowProgram& program, void* const* operands,
                   void* const* results, int64_t begin, int64_t end);

// The same for points [begin, end).
void InterpretIndices(const IndexProgram& program, void* const* operands,
                      void* const* results, int64_t begin, int64_t end);
void InterpretIndices(const JoinedProgram& program, void* const* operands,
                      void* const* results, int64_t begin, int64_t end);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INTERPRET_H_
