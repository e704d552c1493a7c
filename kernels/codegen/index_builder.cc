// Index arithmetic, elements and states as instructions.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/index_builder.h"

#include <utility>

#include "kernels/codegen/narrow_types.h"

namespace partita {
namespace {

void SetBody(const IndexFormula& formula, bool has_fma, IndexProgram& program,
             ProgramBody& body) {
  ProgramBuilder builder(has_fma);
  ProgramBody made;
  builder.Finish(formula(IndexReader(program, builder)), made);
  body = std::move(made);
}

// The states have the types of the results of `first`.
ScalarType StateType(const IndexProgram& program, size_t i) {
  return program.first.instructions[program.first.results[i]].type;
}

}  // namespace

Register IndexReader::Index(int64_t value) const {
  return builder_.Integer(program_.index, value);
}

Register IndexReader::Loop(size_t loop) const {
  return builder_.Write(
      {.op = Opcode::kCoordinate, .type = program_.index, .bits = loop});
}

Register IndexReader::Step(size_t step) const {
  return Loop(program_.loops.size() + step);
}

std::vector<Register> IndexReader::Loops() const {
  std::vector<Register> loops;
  for (size_t loop = 0; loop < program_.loops.size(); ++loop) {
    loops.push_back(Loop(loop));
  }
  return loops;
}

Register IndexReader::Offset(absl::Span<const Register> coordinates,
                             absl::Span<const int64_t> strides,
                             int64_t offset) const {
  std::optional<Register> sum;
  if (offset != 0) sum = Index(offset);
  for (size_t i = 0; i < coordinates.size(); ++i) {
    if (strides[i] == 0) continue;
    const Register term =
        strides[i] == 1 ? coordinates[i] : coordinates[i] * Index(strides[i]);
    sum = sum.has_value() ? *sum + term : term;
  }
  return sum.has_value() ? *sum : Index(0);
}

Register IndexReader::IsInside(Register index, int64_t extent) const {
  return (Index(0) <= index) & (index < Index(extent));
}

Register IndexReader::Element(size_t operand, Register offset,
                              std::optional<Register> condition) const {
  return builder_.Write({.op = Opcode::kElement,
                         .type = program_.operands[operand].type,
                         .a = offset.id,
                         .b = condition.has_value() ? condition->id : -1,
                         .bits = operand});
}

Register IndexReader::Number(size_t operand, Register offset,
                             std::optional<Register> condition) const {
  return LoadedNumber(Element(operand, offset, condition));
}

ScalarType IndexReader::NumberType(size_t operand) const {
  return partita::NumberType(program_.operands[operand].type);
}

Register IndexReader::State(size_t i) const {
  return builder_.Load(StateType(program_, i), static_cast<int>(i));
}

Register IndexReader::Sum(size_t i) const {
  const ProgramBody& body = program_.sums[i].body;
  return builder_.Load(body.instructions[body.results[0]].type,
                       static_cast<int>(program_.first.results.size() + i));
}

Register IndexReader::Term() const { return Loop(TermLoop(program_)); }

Register IndexReader::SumSoFar(ScalarType type) const {
  return builder_.Load(type, 0);
}

Register IndexReader::Constant(ScalarType type, double value) const {
  return builder_.Constant(type, value);
}

Register IndexReader::Bits(ScalarType type, uint64_t bits) const {
  return builder_.Write({.op = Opcode::kConstant, .type = type, .bits = bits});
}

void SetFirst(const IndexFormula& formula, bool has_fma,
              IndexProgram& program) {
  SetBody(formula, has_fma, program, program.first);
}
void AddSum(int64_t terms, const IndexFormula& formula, bool has_fma,
            IndexProgram& program) {
  StepSum sum;
  sum.terms = terms;
  SetBody(formula, has_fma, program, sum.body);
  program.sums.push_back(std::move(sum));
}
void SetStep(const IndexFormula& formula, bool has_fma, IndexProgram& program) {
  SetBody(formula, has_fma, program, program.step);
}
void SetLast(const IndexFormula& formula, bool has_fma, IndexProgram& program) {
  SetBody(formula, has_fma, program, program.last);
}

Register Quotient(Register a, int64_t b) {
  if (b == 1) return a;
  return a.builder->Write({.op = Opcode::kQuotient,
                           .type = a.type,
                           .a = a.id,
                           .bits = static_cast<uint64_t>(b)});
}
Register Remainder(Register a, int64_t b) {
  if (b == 1) return Like(a, 0);
  return a.builder->Write({.op = Opcode::kRemainder,
                           .type = a.type,
                           .a = a.id,
                           .bits = static_cast<uint64_t>(b)});
}

}  // namespace partita
