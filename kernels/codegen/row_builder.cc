// Loads of operands and row scalars.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/row_builder.h"

#include <utility>

#include "kernels/codegen/narrow_types.h"

namespace partita {
namespace {

ProgramBody BodyOfFormula(const RowFormula& formula, bool has_fma,
                          const RowProgram& program) {
  ProgramBody body;
  if (formula == nullptr) return body;
  ProgramBuilder builder(has_fma);
  builder.Finish(formula(RowReader(program, builder)), body);
  return body;
}

}  // namespace

Register RowReader::Operand(int i) const {
  return LoadedNumber(builder_.Load(program_.operands[i].type, i));
}

Register RowReader::Scalar(int i) const {
  const int number = static_cast<int>(program_.operands.size()) + i;
  return builder_.Load(RowScalarTypes(program_)[i], number);
}

Register RowReader::F32(double value) const {
  return builder_.Constant(ScalarType::kF32, value);
}

void AddPhase(std::vector<Combiner> combiners, const RowFormula& elements,
              const RowFormula& scalars, bool has_fma, RowProgram& program) {
  ProgramBody body = BodyOfFormula(elements, has_fma, program);
  program.phases.push_back({std::move(body), std::move(combiners), {}});
  program.phases.back().scalars = BodyOfFormula(scalars, has_fma, program);
}

void SetElements(const RowFormula& elements, bool has_fma,
                 RowProgram& program) {
  program.elements = BodyOfFormula(elements, has_fma, program);
}

}  // namespace partita
