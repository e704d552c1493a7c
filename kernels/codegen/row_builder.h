// Writes the bodies of a program over rows as formulas over registers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_ROW_BUILDER_H_
#define PARTITA_KERNELS_CODEGEN_ROW_BUILDER_H_

#include <functional>
#include <vector>

#include "kernels/codegen/program_builder.h"
#include "kernels/codegen/row_program.h"

namespace partita {

// What a body may read.
class RowReader {
 public:
  RowReader(const RowProgram& program, ProgramBuilder& builder)
      : program_(program), builder_(builder) {}
  // As a number: the f32 of a 16-bit float, the i32 of a bool or of an integer
  // of fewer bits.
  Register Operand(int i) const;
  // A scalar of the row that is known where the body runs.
  Register Scalar(int i) const;
  Register F32(double value) const;

 private:
  const RowProgram& program_;
  ProgramBuilder& builder_;
};

using RowFormula = std::function<std::vector<Register>(const RowReader& row)>;

// Adds bodies to a program with loops and operands. `has_fma` as for
// ProgramBuilder. The phase's reductions are the row scalars after those of the
// phases before; then come those that `scalars` computes, which may be null.
void AddPhase(std::vector<Combiner> combiners, const RowFormula& elements,
              const RowFormula& scalars, bool has_fma, RowProgram& program);
void SetElements(const RowFormula& elements, bool has_fma, RowProgram& program);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_ROW_BUILDER_H_
