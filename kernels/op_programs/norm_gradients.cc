// The gradient of a layer norm by its scale. Each column goes through all rows,
// and through each row twice, for its mean and its variance.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/products.h"

namespace partita {

absl::Status BuildLayerNormScaleGradient(IndexNode& node) {
  const OpView& op = node.op();
  const int64_t columns = op.result_type(0).num_elements();
  const int64_t elements = op.operand_type(0).num_elements();
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  node.SetPoints({columns});
  node.SetSteps({columns == 0 ? 0 : elements / columns, 2, columns});
  // The row's sum, its sum of squared differences, and the sum over rows.
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    const Register none = read.Constant(read.NumberType(0), 0);
    return {none, none, none};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const Register column = node.Point(read)[0];
    const Register row = read.Step(0) * read.Index(columns);
    const Register is_mean = Equal(read.Step(1), read.Index(0));
    const Register begins = Equal(read.Step(2), read.Index(0));
    const Register ends = Equal(read.Step(1), read.Index(1)) &
                          Equal(read.Step(2), read.Index(columns - 1));
    const Register x = read.Number(0, row + read.Step(2));
    const Register none = Like(x, 0);
    const Register count = Like(x, static_cast<double>(columns));
    const Register sum = read.State(0);
    const Register more = Select(begins, none, sum) + x;
    const Register mean = sum / count;
    const Register difference = x - mean;
    const Register squares =
        AddProduct(Select(begins, none, read.State(1)), difference, difference);
    const Register deviation =
        Unary(Opcode::kSqrt, squares / count + op.attr_float("epsilon"));
    const Register x_hat = (read.Number(0, row + column) - mean) / deviation;
    const Register dy = Cast(read.Number(1, row + column), x.type);
    const Register total = read.State(2);
    return {Select(is_mean, more, sum), squares,
            Select(ends, AddProduct(total, dy, x_hat), total)};
  });
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(type, read.State(2))};
  });
  return absl::OkStatus();
}

}  // namespace partita
