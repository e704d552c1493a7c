// Formulas of phases.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/row_ops.h"

#include <vector>

#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/row_builder.h"

namespace partita {
namespace {

using Registers = std::vector<Register>;

Combiner CombinerOf(RowReduction reduction) {
  switch (reduction) {
    case RowReduction::kProduct:
      return Combiner::kProduct;
    case RowReduction::kMax:
      return Combiner::kMax;
    case RowReduction::kMin:
      return Combiner::kMin;
    case RowReduction::kSum:
    case RowReduction::kMean:
      break;
  }
  return Combiner::kSum;
}

Register ElementsOf(const RowProgram& program, Register like) {
  return Like(like, static_cast<double>(RowLength(program)));
}

// Scalar 0 is max x, scalar 1 the sum of exp(x - max x), scalar 2 what
// `of_sum` makes of it.
void AddExponentials(Register (*of_sum)(Register sum), bool has_fma,
                     RowProgram& program) {
  AddPhase(
      {Combiner::kMax},
      [](const RowReader& row) -> Registers { return {row.Operand(0)}; },
      nullptr, has_fma, program);
  AddPhase(
      {Combiner::kSum},
      [](const RowReader& row) -> Registers {
        return {Exp(row.Operand(0) - row.Scalar(0))};
      },
      [&](const RowReader& row) -> Registers {
        return {of_sum(row.Scalar(1))};
      },
      has_fma, program);
}

Register Reciprocal(Register x) { return 1.0 / x; }

// The reciprocal of the root of a mean of squares.
Register RateOf(const RowProgram& program, Register squares, double epsilon) {
  const Register mean = squares / ElementsOf(program, squares);
  return 1.0 / Unary(Opcode::kSqrt, mean + epsilon);
}

Register ScaledAndShifted(const RowProgram& program, const RowReader& row,
                          Register normalised) {
  const Register scaled = normalised * row.Operand(1);
  const Register shifted =
      program.operands.size() > 2 ? scaled + row.Operand(2) : scaled;
  return StoredNumber(program.operands[0].type, shifted);
}

}  // namespace

void BuildReduction(RowReduction reduction, bool has_fma, RowProgram& program) {
  AddPhase(
      {CombinerOf(reduction)},
      [](const RowReader& row) -> Registers { return {row.Operand(0)}; },
      [&](const RowReader& row) -> Registers {
        Register total = row.Scalar(0);
        if (reduction == RowReduction::kMean) {
          total = total / ElementsOf(program, total);
        }
        return {StoredNumber(program.operands[0].type, total)};
      },
      has_fma, program);
  program.row_results = {1};
}

void BuildSoftmax(bool has_fma, RowProgram& program) {
  AddExponentials(Reciprocal, has_fma, program);
  SetElements(
      [&](const RowReader& row) -> Registers {
        const Register y = Exp(row.Operand(0) - row.Scalar(0)) * row.Scalar(2);
        return {StoredNumber(program.operands[0].type, y)};
      },
      has_fma, program);
}

void BuildLogSoftmax(bool has_fma, RowProgram& program) {
  AddExponentials(Log, has_fma, program);
  SetElements(
      [&](const RowReader& row) -> Registers {
        const Register y = row.Operand(0) - row.Scalar(0) - row.Scalar(2);
        return {StoredNumber(program.operands[0].type, y)};
      },
      has_fma, program);
}

void BuildLayerNorm(double epsilon, bool has_fma, RowProgram& program) {
  AddPhase(
      {Combiner::kSum},
      [](const RowReader& row) -> Registers { return {row.Operand(0)}; },
      [&](const RowReader& row) -> Registers {
        const Register sum = row.Scalar(0);
        return {sum / ElementsOf(program, sum)};
      },
      has_fma, program);
  AddPhase(
      {Combiner::kSum},
      [](const RowReader& row) -> Registers {
        const Register difference = row.Operand(0) - row.Scalar(1);
        return {difference * difference};
      },
      [&](const RowReader& row) -> Registers {
        return {RateOf(program, row.Scalar(2), epsilon)};
      },
      has_fma, program);
  SetElements(
      [&](const RowReader& row) -> Registers {
        return {ScaledAndShifted(
            program, row, (row.Operand(0) - row.Scalar(1)) * row.Scalar(3))};
      },
      has_fma, program);
}

void BuildRmsNorm(double epsilon, bool has_fma, RowProgram& program) {
  AddPhase(
      {Combiner::kSum},
      [](const RowReader& row) -> Registers {
        return {row.Operand(0) * row.Operand(0)};
      },
      [&](const RowReader& row) -> Registers {
        return {RateOf(program, row.Scalar(0), epsilon)};
      },
      has_fma, program);
  SetElements(
      [&](const RowReader& row) -> Registers {
        return {ScaledAndShifted(program, row, row.Operand(0) * row.Scalar(1))};
      },
      has_fma, program);
}

}  // namespace partita
