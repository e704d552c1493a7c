// Gaussian elimination in registers, for small matrices.
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

// A thread's registers hold the matrix, in f64.
constexpr int64_t kMostRows = 4;

using Row = std::vector<Register>;

// Swaps two rows where the condition holds.
void SwapIf(Register condition, Row& a, Row& b) {
  for (size_t j = 0; j < a.size(); ++j) {
    const Register upper = Select(condition, b[j], a[j]);
    b[j] = Select(condition, a[j], b[j]);
    a[j] = upper;
  }
}

// The product of the diagonal. Row k becomes the one with the greatest
// magnitude in column k; each swap changes the sign. A pivot of 0 gives 0,
// whatever the quotients by it are.
Register Determinant(std::vector<Row> rows, Register one) {
  const Register zero = Like(one, 0);
  Register product = one;
  Register is_singular = one < zero;
  for (size_t k = 0; k < rows.size(); ++k) {
    for (size_t i = k + 1; i < rows.size(); ++i) {
      const Register is_greater =
          Unary(Opcode::kAbs, rows[k][k]) < Unary(Opcode::kAbs, rows[i][k]);
      SwapIf(is_greater, rows[k], rows[i]);
      product = Select(is_greater, -product, product);
    }
    const Register pivot = rows[k][k];
    is_singular = is_singular | Equal(pivot, zero);
    product = product * pivot;
    for (size_t i = k + 1; i < rows.size(); ++i) {
      const Register factor = rows[i][k] / pivot;
      for (size_t j = k + 1; j < rows.size(); ++j) {
        rows[i][j] = rows[i][j] - factor * rows[k][j];
      }
    }
  }
  return Select(is_singular, zero, product);
}

}  // namespace

absl::Status BuildDet(IndexNode& node) {
  const OpView& op = node.op();
  const int64_t n = op.operand_type(0).dims.back();
  if (n > kMostRows) {
    return node.NotGenerated("matrices of more than four rows");
  }
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  node.SetPoints({op.result_type(0).num_elements()});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const Register first = node.Point(read)[0] * read.Index(n * n);
    std::vector<Row> rows(n);
    for (int64_t i = 0; i < n * n; ++i) {
      const Register x = read.Number(0, first + read.Index(i));
      rows[i / n].push_back(Cast(x, ScalarType::kF64));
    }
    const Register product =
        Determinant(std::move(rows), read.Constant(ScalarType::kF64, 1));
    return {StoredNumber(type, CastFor(type, product))};
  });
  return absl::OkStatus();
}

}  // namespace partita
