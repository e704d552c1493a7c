// Sizes, types and the meaning of reductions.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/row_program.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/program_builder.h"

namespace partita {
namespace {

int64_t Product(const std::vector<int64_t>& loops) {
  return std::accumulate(loops.begin(), loops.end(), int64_t{1},
                         std::multiplies<>());
}

uint64_t BitsOf(ScalarType type, double value) {
  return type == ScalarType::kF32
             ? std::bit_cast<uint32_t>(static_cast<float>(value))
             : std::bit_cast<uint64_t>(value);
}

// Of all values, integers or floats with infinities.
uint64_t ExtremeBits(ScalarType type, bool is_greatest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (IsFloatType(type)) {
    return BitsOf(type, is_greatest ? kInfinity : -kInfinity);
  }
  const int64_t extreme = is_greatest ? GreatestOf(type) : LeastOf(type);
  return BytesOf(type) == 4 ? static_cast<uint32_t>(extreme)
                            : static_cast<uint64_t>(extreme);
}

ScalarType TypeOf(const ProgramBody& body, size_t result) {
  return body.instructions[body.results[result]].type;
}

}  // namespace

int64_t NumRows(const RowProgram& program) { return Product(program.rows); }

int64_t RowLength(const RowProgram& program) {
  return Product(program.columns);
}

int64_t GreatestIndex(const RowProgram& program) {
  std::vector<int64_t> loops = program.rows;
  loops.insert(loops.end(), program.columns.begin(), program.columns.end());
  int64_t greatest = NumRows(program) * RowLength(program);
  for (const ProgramOperand& operand : program.operands) {
    int64_t index = 0;
    for (size_t loop = 0; loop < loops.size(); ++loop) {
      index += (loops[loop] - 1) * operand.strides[loop];
    }
    greatest = std::max(greatest, index);
  }
  return greatest;
}

int64_t NumAccumulators(int64_t length) {
  constexpr int64_t kMost = 1024;
  // Fewer than a warp's threads have in 16-byte accesses would leave some idle.
  constexpr int64_t kOfShortRows = 128;
  const int64_t wanted =
      std::clamp(length / 4, std::min(length, kOfShortRows), kMost);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(wanted)));
}

uint64_t StartBits(Combiner combiner, ScalarType type) {
  switch (combiner) {
    case Combiner::kSum:
      return 0;
    case Combiner::kProduct:
      return IsFloatType(type) ? BitsOf(type, 1) : 1;
    case Combiner::kMax:
      return ExtremeBits(type, /*is_greatest=*/false);
    case Combiner::kMin:
      break;
  }
  return ExtremeBits(type, /*is_greatest=*/true);
}

ProgramBody BodyOf(Combiner combiner, ScalarType type) {
  ProgramBuilder builder(/*has_fma=*/true);
  const Register a = builder.Load(type, 0);
  const Register b = builder.Load(type, 1);
  const auto unless_nan = [&](Register is_better) {
    return Select(IsFloatType(type) ? is_better | IsNan(b) : is_better, b, a);
  };
  ProgramBody body;
  switch (combiner) {
    case Combiner::kSum:
      builder.Finish({a + b}, body);
      break;
    case Combiner::kProduct:
      builder.Finish({a * b}, body);
      break;
    case Combiner::kMax:
      builder.Finish({unless_nan(a < b)}, body);
      break;
    case Combiner::kMin:
      builder.Finish({unless_nan(b < a)}, body);
      break;
  }
  return body;
}

std::vector<ScalarType> RowScalarTypes(const RowProgram& program) {
  std::vector<ScalarType> types;
  for (const RowPhase& phase : program.phases) {
    for (const ProgramBody* body : {&phase.elements, &phase.scalars}) {
      for (size_t i = 0; i < body->results.size(); ++i) {
        types.push_back(TypeOf(*body, i));
      }
    }
  }
  return types;
}

std::vector<ScalarType> ResultTypes(const RowProgram& program) {
  std::vector<ScalarType> types;
  for (size_t i = 0; i < program.elements.results.size(); ++i) {
    types.push_back(TypeOf(program.elements, i));
  }
  const std::vector<ScalarType> scalars = RowScalarTypes(program);
  for (int32_t scalar : program.row_results) types.push_back(scalars[scalar]);
  return types;
}

int64_t NumResultElements(const RowProgram& program, size_t i) {
  const bool is_of_elements = i < program.elements.results.size();
  return NumRows(program) * (is_of_elements ? RowLength(program) : 1);
}

bool IsRowConstant(const RowProgram& program, const ProgramOperand& operand) {
  const std::vector<int64_t> strides = ColumnStrides(program, operand);
  return std::all_of(strides.begin(), strides.end(),
                     [](int64_t stride) { return stride == 0; });
}

std::vector<int64_t> RowStrides(const RowProgram& program,
                                const ProgramOperand& operand) {
  return {operand.strides.begin(),
          operand.strides.begin() + static_cast<int64_t>(program.rows.size())};
}

std::vector<int64_t> ColumnStrides(const RowProgram& program,
                                   const ProgramOperand& operand) {
  return {operand.strides.begin() + static_cast<int64_t>(program.rows.size()),
          operand.strides.end()};
}

}  // namespace partita
