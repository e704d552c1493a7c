// Loops of rows and columns, and a table of ops.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/read_row_program.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/op_def.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/not_generated.h"
#include "kernels/codegen/row_builder.h"
#include "kernels/codegen/row_ops.h"
#include "kernels/codegen/scalar_type.h"

namespace partita {
namespace {

using Registers = std::vector<Register>;

// The node and its program so far.
struct RowNode {
  const OpView& op;
  bool has_fma;
  RowProgram program;

  // The type in which operand 0 is computed.
  ScalarType computed() const { return NumberType(program.operands[0].type); }
  absl::Status ExpectFloats() const {
    return IsFloatType(computed()) ? absl::OkStatus()
                                   : NotGenerated(op, "a function of integers");
  }
};

absl::Status SetOperandTypes(RowNode& node) {
  for (int i = 0; i < node.op.num_operands(); ++i) {
    const ScalarType type = ScalarTypeOf(node.op.operand_type(i).dtype);
    node.program.operands.push_back({type, {}});
    if (NumberType(type) != node.computed()) {
      return NotGenerated(node.op, "operands of several types");
    }
  }
  return absl::OkStatus();
}

// Loops over dimensions of operand 0, reduced ones as columns; other operands
// like it.
void SetLoops(const std::vector<bool>& reduced, RowNode& node) {
  const Shape& dims = node.op.operand_type(0).dims;
  const Shape strides = RowMajorStrides(dims);
  std::vector<int64_t> row_strides;
  std::vector<int64_t> column_strides;
  for (size_t d = 0; d < dims.size(); ++d) {
    (reduced[d] ? node.program.columns : node.program.rows).push_back(dims[d]);
    (reduced[d] ? column_strides : row_strides).push_back(strides[d]);
  }
  if (column_strides.empty()) {
    node.program.columns = {1};
    column_strides = {0};
  }
  row_strides.insert(row_strides.end(), column_strides.begin(),
                     column_strides.end());
  for (ProgramOperand& operand : node.program.operands) {
    operand.strides = row_strides;
  }
}

// Dimensions from `first` on are columns. Operands with other extents than
// operand 0 have those of a row, and are the same for all rows.
void SetLoopsFrom(int first, RowNode& node) {
  const Shape& dims = node.op.operand_type(0).dims;
  std::vector<bool> reduced(dims.size(), false);
  std::fill(reduced.begin() + first, reduced.end(), true);
  SetLoops(reduced, node);
  for (int i = 1; i < node.op.num_operands(); ++i) {
    if (node.op.operand_type(i).dims == dims) continue;
    std::vector<int64_t>& strides = node.program.operands[i].strides;
    std::fill(strides.begin(), strides.begin() + first, 0);
  }
}

void SetReducedAxes(RowNode& node) {
  const int rank = node.op.operand_type(0).rank();
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : node.op.attr_ints("axes")) {
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  SetLoops(reduced, node);
}

template <RowReduction reduction>
absl::Status BuildPlain(RowNode& node) {
  SetReducedAxes(node);
  BuildReduction(reduction, node.has_fma, node.program);
  return absl::OkStatus();
}

// after(sum of before(x), elements of a row) of integers: in f64, rounded
// toward zero.
absl::Status SumIntegersInF64(Register (*before)(Register),
                              Register (*after)(Register, double),
                              RowNode& node) {
  SetReducedAxes(node);
  const ScalarType type = node.program.operands[0].type;
  const double length = static_cast<double>(RowLength(node.program));
  AddPhase(
      {Combiner::kSum},
      [&](const RowReader& row) -> Registers {
        return {before(Cast(row.Operand(0), ScalarType::kF64))};
      },
      [&](const RowReader& row) -> Registers {
        return {
            StoredNumber(type, CastFor(type, after(row.Scalar(0), length)))};
      },
      node.has_fma, node.program);
  node.program.row_results = {1};
  return absl::OkStatus();
}

// after(sum of before(x))
void SumOf(Register (*before)(Register), Register (*after)(Register),
           RowNode& node) {
  SetReducedAxes(node);
  AddPhase(
      {Combiner::kSum},
      [&](const RowReader& row) -> Registers {
        return {before(row.Operand(0))};
      },
      [&](const RowReader& row) -> Registers {
        return {
            StoredNumber(node.program.operands[0].type, after(row.Scalar(0)))};
      },
      node.has_fma, node.program);
  node.program.row_results = {1};
}

Register Same(Register x) { return x; }
Register Square(Register x) { return x * x; }
Register Magnitude(Register x) { return Unary(Opcode::kAbs, x); }
Register Root(Register x) { return Unary(Opcode::kSqrt, x); }

absl::Status BuildMean(RowNode& node) {
  if (IsFloatType(node.computed())) {
    return BuildPlain<RowReduction::kMean>(node);
  }
  return SumIntegersInF64(
      Same, [](Register sum, double length) { return sum / Like(sum, length); },
      node);
}

absl::Status BuildL1(RowNode& node) {
  SumOf(Magnitude, Same, node);
  return absl::OkStatus();
}
absl::Status BuildSumSquare(RowNode& node) {
  SumOf(Square, Same, node);
  return absl::OkStatus();
}
absl::Status BuildL2(RowNode& node) {
  if (!IsFloatType(node.computed())) {
    return SumIntegersInF64(
        Square, [](Register sum, double) { return Root(sum); }, node);
  }
  SumOf(Square, Root, node);
  return absl::OkStatus();
}
absl::Status BuildLogSum(RowNode& node) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  SumOf(Same, Log, node);
  return absl::OkStatus();
}

// top + log sum exp(x - top), where top is the greatest x if that is finite.
absl::Status BuildLogSumExp(RowNode& node) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  SetReducedAxes(node);
  AddPhase(
      {Combiner::kMax},
      [](const RowReader& row) -> Registers { return {row.Operand(0)}; },
      [](const RowReader& row) -> Registers {
        const Register top = row.Scalar(0);
        const Register is_finite =
            Magnitude(top) < std::numeric_limits<double>::infinity();
        return {Select(is_finite, top, Like(top, 0))};
      },
      node.has_fma, node.program);
  AddPhase(
      {Combiner::kSum},
      [](const RowReader& row) -> Registers {
        return {Exp(row.Operand(0) - row.Scalar(1))};
      },
      [&](const RowReader& row) -> Registers {
        return {StoredNumber(node.program.operands[0].type,
                             row.Scalar(1) + Log(row.Scalar(2)))};
      },
      node.has_fma, node.program);
  node.program.row_results = {3};
  return absl::OkStatus();
}

// Sums in f64 of the first operand, and of its products with the last.
absl::Status BuildMoments(RowNode& node) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  SetReducedAxes(node);
  const int last = node.op.num_operands() - 1;
  AddPhase(
      {Combiner::kSum, Combiner::kSum},
      [&](const RowReader& row) -> Registers {
        const Register x = Cast(row.Operand(0), ScalarType::kF64);
        return {x, x * Cast(row.Operand(last), ScalarType::kF64)};
      },
      nullptr, node.has_fma, node.program);
  node.program.row_results = {0, 1};
  return absl::OkStatus();
}

// The results of elements are dense only if rows are lines of memory.
absl::Status SetLastAxis(RowNode& node) {
  const Shape& dims = node.op.operand_type(0).dims;
  const int axis = AxisOf(node.op);
  if (Product(absl::MakeConstSpan(dims).subspan(axis + 1)) != 1) {
    return NotGenerated(node.op, "an axis that is not the last");
  }
  SetLoopsFrom(axis, node);
  return absl::OkStatus();
}

template <void (*build)(bool has_fma, RowProgram& program)>
absl::Status BuildAlongAxis(RowNode& node) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  PARTITA_RETURN_IF_ERROR(SetLastAxis(node));
  build(node.has_fma, node.program);
  return absl::OkStatus();
}

// x divided by its norm, if that is not 0.
absl::Status BuildLpNorm(RowNode& node) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  PARTITA_RETURN_IF_ERROR(SetLastAxis(node));
  const bool squares = node.op.attr_int("p") == 2;
  AddPhase(
      {Combiner::kSum},
      [&](const RowReader& row) -> Registers {
        const Register x = row.Operand(0);
        return {squares ? Square(x) : Magnitude(x)};
      },
      [&](const RowReader& row) -> Registers {
        const Register norm = squares ? Root(row.Scalar(0)) : row.Scalar(0);
        return {Select(Equal(norm, Like(norm, 0)), Like(norm, 1), norm)};
      },
      node.has_fma, node.program);
  SetElements(
      [&](const RowReader& row) -> Registers {
        return {StoredNumber(node.program.operands[0].type,
                             row.Operand(0) / row.Scalar(1))};
      },
      node.has_fma, node.program);
  return absl::OkStatus();
}

absl::Status BuildLayerNormOf(RowNode& node) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  SetLoopsFrom(AxisOf(node.op), node);
  const double epsilon = node.op.attr_float("epsilon");
  (node.op.attr_bool("center") ? BuildLayerNorm : BuildRmsNorm)(
      epsilon, node.has_fma, node.program);
  return absl::OkStatus();
}

// With g = dy scale: rate (g - mean g - x_hat mean(g x_hat)).
absl::Status BuildLayerNormGradient(RowNode& node) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  SetLoopsFrom(AxisOf(node.op), node);
  RowProgram& program = node.program;
  const double epsilon = node.op.attr_float("epsilon");
  const auto mean_of = [&](Register sum) {
    return sum / Like(sum, static_cast<double>(RowLength(program)));
  };
  const auto x_hat = [](const RowReader& row) {
    return (row.Operand(0) - row.Scalar(1)) * row.Scalar(3);
  };
  const auto gradient = [](const RowReader& row) {
    return row.Operand(2) * row.Operand(1);
  };
  AddPhase(
      {Combiner::kSum},
      [](const RowReader& row) -> Registers { return {row.Operand(0)}; },
      [&](const RowReader& row) -> Registers {
        return {mean_of(row.Scalar(0))};
      },
      node.has_fma, program);
  AddPhase(
      {Combiner::kSum},
      [](const RowReader& row) -> Registers {
        return {Square(row.Operand(0) - row.Scalar(1))};
      },
      [&](const RowReader& row) -> Registers {
        return {1.0 / Root(mean_of(row.Scalar(2)) + epsilon)};
      },
      node.has_fma, program);
  AddPhase(
      {Combiner::kSum, Combiner::kSum},
      [&](const RowReader& row) -> Registers {
        return {gradient(row), gradient(row) * x_hat(row)};
      },
      [&](const RowReader& row) -> Registers {
        return {mean_of(row.Scalar(4)), mean_of(row.Scalar(5))};
      },
      node.has_fma, program);
  SetElements(
      [&](const RowReader& row) -> Registers {
        const Register rest = gradient(row) - row.Scalar(6);
        const Register dx = (rest - x_hat(row) * row.Scalar(7)) * row.Scalar(3);
        return {StoredNumber(program.operands[0].type, dx)};
      },
      node.has_fma, program);
  return absl::OkStatus();
}

// Rows are groups of channels.
absl::Status BuildGrouped(RowNode& node, int64_t groups) {
  PARTITA_RETURN_IF_ERROR(node.ExpectFloats());
  const Shape& x = node.op.operand_type(0).dims;
  const int64_t inner = Product(absl::MakeConstSpan(x).subspan(2));
  const int64_t channels = x[1] / groups;
  RowProgram& program = node.program;
  program.rows = {x[0], groups};
  program.columns = {channels, inner};
  program.operands[0].strides = {x[1] * inner, channels * inner, inner, 1};
  for (size_t i = 1; i < program.operands.size(); ++i) {
    program.operands[i].strides = {0, channels, 1, 0};
  }
  BuildLayerNorm(node.op.attr_float("epsilon"), node.has_fma, program);
  return absl::OkStatus();
}
absl::Status BuildInstanceNorm(RowNode& node) {
  return BuildGrouped(node, node.op.operand_type(0).dims[1]);
}
absl::Status BuildGroupNorm(RowNode& node) {
  return BuildGrouped(node, node.op.attr_int("groups"));
}

struct Row {
  const OpDef* op;
  absl::Status (*build)(RowNode& node);
};
constexpr Row kRows[] = {
    {&kReduceSum, BuildPlain<RowReduction::kSum>},
    {&kReduceProd, BuildPlain<RowReduction::kProduct>},
    {&kReduceMax, BuildPlain<RowReduction::kMax>},
    {&kReduceMin, BuildPlain<RowReduction::kMin>},
    {&kReduceMean, BuildMean},
    {&kReduceL1, BuildL1},
    {&kReduceL2, BuildL2},
    {&kReduceSumSquare, BuildSumSquare},
    {&kReduceLogSum, BuildLogSum},
    {&kReduceLogSumExp, BuildLogSumExp},
    {&kMoments, BuildMoments},
    {&kCrossMoments, BuildMoments},
    {&kSoftmax, BuildAlongAxis<BuildSoftmax>},
    {&kLogSoftmax, BuildAlongAxis<BuildLogSoftmax>},
    {&kLpNorm, BuildLpNorm},
    {&kLayerNorm, BuildLayerNormOf},
    {&kLayerNormGradient, BuildLayerNormGradient},
    {&kInstanceNorm, BuildInstanceNorm},
    {&kGroupNorm, BuildGroupNorm},
};

}  // namespace

absl::StatusOr<RowProgram> ReadRowProgram(const OpView& op, bool has_fma) {
  const Row* row = absl::c_find_if(
      kRows, [&](const Row& known) { return op.is(*known.op); });
  if (row == std::end(kRows)) return NotGenerated(op, "such an op");
  if (op.operand_type(0).num_elements() == 0) {
    return NotGenerated(op, "no elements");
  }
  RowNode node = {op, has_fma, {}};
  PARTITA_RETURN_IF_ERROR(SetOperandTypes(node));
  PARTITA_RETURN_IF_ERROR(row->build(node));
  return std::move(node.program);
}

}  // namespace partita
