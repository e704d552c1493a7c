// A matmul in the dimensions of a primitive.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_PRODUCT_H_
#define PARTITA_KERNELS_CPU_PRODUCT_H_

#include <optional>

#include "graph/op_view.h"
#include "graph/tensor_type.h"
#include "kernels/cpu/fused_chain.h"
#include "kernels/cpu/onednn_recipe.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// An operand as the primitive sees it: extents and strides.
struct Matrix {
  dnnl::memory::desc Desc(DType dtype) const;

  Shape dims;
  Shape strides;
};

// If the right side is one matrix, all rows of the left side are one matrix
// too.
struct MatrixProduct {
  Matrix a, b, y;
  bool one_matrix = false;  // b may have a layout of its own
  bool transpose_b = false;
};

// True if the node is a matmul, alone or with a fused chain after it, and
// neither operand is a scalar.
bool IsProduct(const OpView& node);

// For operands with these extents.
MatrixProduct MakeProduct(const OpView& matmul, const Shape& a, const Shape& b);

// True if all values are requested row-major. The right side may have any
// layout, unless it is also the left one.
bool IsRowMajorBesideWeights(const FusedChain& chain, LayoutWish wish);

// The extents of a link's operand in the primitive's dimensions. If rows are
// merged, only one value, one per column, or one per element is possible.
std::optional<Shape> LinkExtents(const Shape& dims, const TensorType& result,
                                 const MatrixProduct& product);

// True for one value for each column of the result.
bool IsOnePerColumn(const Shape& dims, const MatrixProduct& product);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_PRODUCT_H_
