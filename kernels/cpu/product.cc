// Batches of matrices, and rows merged into one matrix.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/product.h"

#include <algorithm>
#include <utility>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/post_ops.h"

namespace partita {
namespace {

Matrix RowMajor(const Shape& dims) { return {dims, RowMajorStrides(dims)}; }

// Row-major as stored, with the last two dimensions swapped if `transposed`,
// and leading ones up to `rank`.
Matrix View(const Shape& stored, bool transposed, int rank) {
  const int missing = rank - static_cast<int>(stored.size());
  Shape dims(missing, 1);
  dims.insert(dims.end(), stored.begin(), stored.end());
  Matrix matrix = RowMajor(dims);
  if (transposed) {
    std::swap(matrix.dims[rank - 2], matrix.dims[rank - 1]);
    std::swap(matrix.strides[rank - 2], matrix.strides[rank - 1]);
  }
  return matrix;
}

int64_t Rows(const Shape& dims) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows *= dims[i];
  return rows;
}

}  // namespace

dnnl::memory::desc Matrix::Desc(DType dtype) const {
  return StridedDesc(dims, strides, dtype);
}

bool IsProduct(const OpView& node) {
  if (node.num_results() != 1) return false;
  const std::optional<FusedChain> chain = ReadChain(node);
  return chain.has_value() && chain->root.is(kMatmul) &&
         chain->root.operand_type(0).rank() > 0 &&
         chain->root.operand_type(1).rank() > 0;
}

MatrixProduct MakeProduct(const OpView& matmul, const Shape& a,
                          const Shape& b) {
  const bool ta = matmul.attr_bool("transpose_a") && a.size() > 1;
  const bool tb = matmul.attr_bool("transpose_b") && b.size() > 1;
  MatrixProduct product;
  product.transpose_b = tb;
  const Shape right = b.size() == 1 ? Shape{b[0], 1} : b;
  if (right.size() == 2 && (!ta || a.size() == 2)) {
    const Shape left = ta ? a : Shape{Rows(a), a.back()};
    product.one_matrix = b.size() == 2;
    product.a = View(left, ta, 2);
    product.b = View(right, tb, 2);
    product.y = RowMajor({product.a.dims[0], product.b.dims[1]});
    return product;
  }
  const Shape left = a.size() == 1 ? Shape{1, a[0]} : a;
  const int rank = static_cast<int>(std::max(left.size(), right.size()));
  product.a = View(left, ta, rank);
  product.b = View(right, tb, rank);
  Shape dims(rank, 1);
  for (int i = 0; i + 2 < rank; ++i) {
    dims[i] = std::max(product.a.dims[i], product.b.dims[i]);
  }
  dims[rank - 2] = product.a.dims[rank - 2];
  dims[rank - 1] = product.b.dims[rank - 1];
  product.y = RowMajor(dims);
  return product;
}

bool IsRowMajorBesideWeights(const FusedChain& chain, LayoutWish wish) {
  const int b = chain.root_operands[1];
  if (b != chain.root_operands[0]) wish.operands[b] = Layout();
  return IsRowMajor(wish);
}

std::optional<Shape> LinkExtents(const Shape& dims, const TensorType& result,
                                 const MatrixProduct& product) {
  const int rank = static_cast<int>(product.y.dims.size());
  if (product.y.dims == result.dims) return PaddedToRank(dims, rank);
  if (dims == result.dims) return product.y.dims;
  if (dims.empty()) return Shape(rank, 1);
  const bool per_column =
      dims.back() == 1 || dims.back() == product.y.dims.back();
  if (Rows(dims) != 1 || !per_column) return std::nullopt;
  Shape extents(rank, 1);
  extents.back() = dims.back();
  return extents;
}

bool IsOnePerColumn(const Shape& dims, const MatrixProduct& product) {
  return !dims.empty() && Rows(dims) == 1 &&
         dims.back() == product.y.dims.back();
}

}  // namespace partita
