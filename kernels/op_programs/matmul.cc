// Products are added in the order of the summed dimension. A GPU's thread has a
// tile of the result (kernels/codegen/gpu_kernel.h).
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/products.h"

namespace partita {
namespace {

// One operand as a batch of matrices [outer, inner]; the inner dimension is the
// summed one. A vector has an outer dimension of 1.
struct Matrices {
  Shape batch;
  int64_t outer = 1;
  int64_t inner = 1;
  int64_t outer_stride = 0;
  int64_t inner_stride = 1;
};

Matrices MatricesOf(const TensorType& type, bool outer_first) {
  Matrices matrices;
  const size_t rank = type.dims.size();
  matrices.inner = type.dims[rank - 1];
  if (rank == 1) return matrices;
  matrices.batch = Shape(type.dims.begin(), type.dims.end() - 2);
  matrices.outer = type.dims[outer_first ? rank - 2 : rank - 1];
  matrices.inner = type.dims[outer_first ? rank - 1 : rank - 2];
  matrices.outer_stride = outer_first ? matrices.inner : 1;
  matrices.inner_stride = outer_first ? 1 : matrices.outer;
  return matrices;
}

// By batch dimension of the result, in elements.
Shape BatchStrides(const Matrices& matrices, const Shape& batch) {
  Shape strides = BroadcastStrides(matrices.batch, batch);
  for (int64_t& stride : strides) stride *= matrices.outer * matrices.inner;
  return strides;
}

}  // namespace

absl::Status BuildMatmul(IndexNode& node) {
  const OpView& op = node.op();
  const Matrices a =
      MatricesOf(op.operand_type(0), !op.attr_bool("transpose_a"));
  const Matrices b =
      MatricesOf(op.operand_type(1), op.attr_bool("transpose_b"));
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const Shape& y = op.result_type(0).dims;
  const size_t batches = std::max(a.batch.size(), b.batch.size());
  const Shape batch(y.begin(), y.begin() + batches);
  Shape dims = batch;
  dims.push_back(a.outer);
  dims.push_back(b.outer);
  node.SetPoints(dims);
  node.SetSteps({a.inner});
  Shape a_strides = BatchStrides(a, batch);
  a_strides.insert(a_strides.end(), {a.outer_stride, 0, a.inner_stride});
  Shape b_strides = BatchStrides(b, batch);
  b_strides.insert(b_strides.end(), {0, b.outer_stride, b.inner_stride});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(0), 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    std::vector<Register> at = node.Point(read);
    at.push_back(read.Step(0));
    return {AddProduct(read.State(0),
                       read.Number(0, read.Offset(at, a_strides)),
                       read.Number(1, read.Offset(at, b_strides)))};
  });
  StoreSum(node);
  return absl::OkStatus();
}

}  // namespace partita
