// Matmul: sums of products over the last dimension of one operand and the last
// but one of the other, for every position of the leading dimensions.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

// The roles of one operand's dimensions. A vector has only the summed
// dimension.
struct Side {
  int batch_rank = 0;
  int outer = -1;  // the dimension that the result keeps; -1 for a vector
  int inner = 0;   // the summed one
  int64_t outer_size = 1;
  int64_t inner_size = 1;
};

// `outer_first`: a is [outer, inner] and b is [inner, outer], unless
// transposed.
Side SideOf(const TensorType& type, bool outer_first) {
  Side side;
  const int rank = type.rank();
  if (rank > 1) {
    side.batch_rank = rank - 2;
    side.outer = outer_first ? rank - 2 : rank - 1;
    side.inner = outer_first ? rank - 1 : rank - 2;
    side.outer_size = type.dims[side.outer];
  }
  side.inner_size = type.dims[side.inner];
  return side;
}
Side A(const OpView& op) {
  return SideOf(op.operand_type(0), !op.attr_bool("transpose_a"));
}
Side B(const OpView& op) {
  return SideOf(op.operand_type(1), op.attr_bool("transpose_b"));
}

absl::Span<const int64_t> BatchDims(const TensorType& type) {
  return absl::MakeConstSpan(type.dims).subspan(0,
                                                std::max(type.rank() - 2, 0));
}

absl::Status CheckOperands(const OpView& op) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  PARTITA_RETURN_IF_ERROR(
      ExpectRank(op, 0, op.attr_bool("transpose_a") ? 2 : 1));
  return ExpectRank(op, 1, op.attr_bool("transpose_b") ? 2 : 1);
}

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckOperands(op));
  const Side a = A(op);
  const Side b = B(op);
  if (a.inner_size != b.inner_size) {
    return BadExtents(
        op, Describe(op, 1),
        absl::StrCat(a.inner_size, " in dimension ", b.inner, ", as dimension ",
                     a.inner, " of ", Describe(op, 0)),
        "transpose or reshape an operand");
  }
  Shape dims = ToShape(BatchDims(op.operand_type(0)));
  if (!BroadcastInto(BatchDims(op.operand_type(1)), dims)) {
    return BadExtents(op, Describe(op, 1),
                      absl::StrCat("leading extents that broadcast with [",
                                   absl::StrJoin(dims, ", "), "]"),
                      "expand or reshape an operand");
  }
  if (a.outer >= 0) dims.push_back(a.outer_size);
  if (b.outer >= 0) dims.push_back(b.outer_size);
  return results.Set(0, {op.operand_type(0).dtype, dims, {}});
}

// A matrix as [rows][columns] of the wide type. A transposed matrix is read in
// tiles, so that both sides stay in the cache.
template <typename T>
void LoadMatrix(const T* from, int64_t rows, int64_t columns, bool transposed,
                std::vector<Wide<T>>& matrix) {
  matrix.resize(rows * columns);
  if (!transposed) {
    std::copy_n(from, rows * columns, matrix.begin());
    return;
  }
  constexpr int64_t kTile = 32;
  for (int64_t top = 0; top < rows; top += kTile) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = top; i < std::min(top + kTile, rows); ++i) {
        matrix[i * columns + j] = static_cast<Wide<T>>(from[j * rows + i]);
      }
    }
  }
}

template <typename T>
struct MatrixSums {
  int64_t m, k, n;
  bool transpose_a, transpose_b;
  std::vector<Wide<T>> a, b, row;

  void Compute(const T* x, const T* y, T* z) {
    LoadMatrix(x, m, k, transpose_a, a);
    LoadMatrix(y, k, n, transpose_b, b);
    for (int64_t i = 0; i < m; ++i) {
      row.assign(n, 0);
      for (int64_t p = 0; p < k; ++p) AddRow(a[i * k + p], b.data() + p * n);
      for (int64_t j = 0; j < n; ++j) z[i * n + j] = Narrow<T>(row[j]);
    }
  }
  void AddRow(Wide<T> factor, const Wide<T>* values) {
    Wide<T>* sums = row.data();
    for (int64_t j = 0; j < n; ++j) sums[j] += factor * values[j];
  }
};

// Offsets, in matrices, of an operand with broadcast leading extents.
Shape MatrixStrides(const TensorType& type, absl::Span<const int64_t> batch) {
  return BroadcastStrides(BatchDims(type), batch);
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const Side a = A(op);
  const Side b = B(op);
  Shape batch = ToShape(BatchDims(in[0].type()));
  BroadcastInto(BatchDims(in[1].type()), batch);
  const std::array<Shape, 3> strides = {MatrixStrides(in[0].type(), batch),
                                        MatrixStrides(in[1].type(), batch),
                                        RowMajorStrides(batch)};
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    MatrixSums<T> product{a.outer_size,
                          a.inner_size,
                          b.outer_size,
                          op.attr_bool("transpose_a"),
                          op.attr_bool("transpose_b"),
                          {},
                          {},
                          {}};
    const T* x = reinterpret_cast<const T*>(in[0].bytes());
    const T* y = reinterpret_cast<const T*>(in[1].bytes());
    T* z = reinterpret_cast<T*>(out[0].bytes());
    ForEachOffset<3>(batch, strides, [&](const std::array<int64_t, 3>& at) {
      product.Compute(x + at[0] * product.m * product.k,
                      y + at[1] * product.k * product.n,
                      z + at[2] * product.m * product.n);
    });
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  return {.flops = 2.0 * op.result_type(0).num_elements() * A(op).inner_size,
          .bytes = BytesAccessedOnce(op)};
}

// [b... m k], [b... k n] -> [b... m n]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const Side a = A(op);
  const Side b = B(op);
  const Shape& dims = op.result_type(0).dims;
  const int batch_rank = std::max(a.batch_rank, b.batch_rank);
  for (int d = 0; d < batch_rank; ++d) {
    const int factor = rule.Kept(absl::StrCat("b", d), dims[d]);
    rule.Result(0, d, factor);
    const int in_a = d - (batch_rank - a.batch_rank);
    const int in_b = d - (batch_rank - b.batch_rank);
    if (in_a >= 0 && op.operand_type(0).dims[in_a] == dims[d]) {
      rule.Operand(0, in_a, factor);
    }
    if (in_b >= 0 && op.operand_type(1).dims[in_b] == dims[d]) {
      rule.Operand(1, in_b, factor);
    }
  }
  int next = batch_rank;
  if (a.outer >= 0) {
    const int m = rule.Kept("m", a.outer_size);
    rule.Operand(0, a.outer, m).Result(0, next++, m);
  }
  if (b.outer >= 0) {
    const int n = rule.Kept("n", b.outer_size);
    rule.Operand(1, b.outer, n).Result(0, next++, n);
  }
  const int k = rule.Reduced("k", a.inner_size, Reduction::kSum);
  rule.Operand(0, a.inner, k).Operand(1, b.inner, k);
  return rule.Finish();
}

Term MatrixProduct(Term a, Term b, bool transpose_a, bool transpose_b) {
  return Apply(kMatmul, {a, b},
               {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

// Both operands and the gradient as matrices: a vector gets its missing extent
// of 1.
struct Matrices {
  Term a, b, dy;
};
Matrices MatricesOf(GradBuilder& b) {
  Shape a_dims = b.operand(0).dims();
  Shape b_dims = b.operand(1).dims();
  Shape dims = b.op().result_type(0).dims;
  if (b_dims.size() == 1) {
    b_dims.push_back(1);
    dims.push_back(1);
  }
  if (a_dims.size() == 1) {
    a_dims.insert(a_dims.begin(), 1);
    dims.insert(dims.end() - 1, 1);
  }
  return {ReshapeTo(b.operand(0), a_dims), ReshapeTo(b.operand(1), b_dims),
          ReshapeTo(b.grad(0), dims)};
}

// [b..., m, n] -> [b m, n]
Term Flattened(Term x) {
  const Shape dims = x.dims();
  if (dims.empty()) return x;
  return ReshapeTo(
      x, {Product(absl::MakeConstSpan(dims).subspan(0, dims.size() - 1)),
          dims.back()});
}

// Sums over broadcast leading dimensions, over matrices first.
void YieldMatrix(GradBuilder& b, int operand, Term gradient, Shape matrix) {
  b.Yield(operand,
          ReshapeTo(SumTo(gradient, matrix), b.operand(operand).dims()));
}

void YieldLeft(GradBuilder& b, const Matrices& m) {
  const bool ta = b.op().attr_bool("transpose_a");
  const bool tb = b.op().attr_bool("transpose_b");
  const Term da = ta ? MatrixProduct(m.b, m.dy, tb, true)
                     : MatrixProduct(m.dy, m.b, false, !tb);
  YieldMatrix(b, 0, da, m.a.dims());
}

// If one matrix b, such as weights, is multiplied with many matrices a, all
// rows form one matrix. Its product includes the sum over them.
void YieldRight(GradBuilder& b, const Matrices& m) {
  const bool ta = b.op().attr_bool("transpose_a");
  const bool tb = b.op().attr_bool("transpose_b");
  const bool one = m.b.dims().size() == 2 && m.a.dims().size() > 2 && !ta;
  const Term a = one ? Flattened(m.a) : m.a;
  const Term dy = one ? Flattened(m.dy) : m.dy;
  const Term db =
      tb ? MatrixProduct(dy, a, true, ta) : MatrixProduct(a, dy, !ta, false);
  YieldMatrix(b, 1, db, m.b.dims());
}

absl::Status Gradient(GradBuilder& b) {
  const Matrices m = MatricesOf(b);
  if (b.needs(0)) YieldLeft(b, m);
  if (b.needs(1)) YieldRight(b, m);
  return b.status();
}

std::vector<OpSample> Samples() {
  const SampleOperand half = {DType::kF16, {4, 6}};
  return {
      {{F32({5, 6}), F32({6, 7})}},
      {{F32({3, 1, 5, 6}), F32({4, 6, 7})}},
      {{F32({3, 6, 5}), F32({3, 7, 6})},
       {{"transpose_a", true}, {"transpose_b", true}}},
      {{F32({6}), F32({3, 6, 7})}},
      {{F32({3, 5, 6}), F32({6})}},
      {{I32({5, 6}), I32({6, 7})}},
      {{half, {DType::kF16, {6, 5}}}},
  };
}

}  // namespace

extern constinit const OpDef kMatmul = {
    .name = "matmul",
    .doc =
        "The matrix product, for every position of the leading dimensions, "
        "which broadcast; a vector is a row (a) or a column (b).",
    .operands = {{{"a"}, {"b"}}},
    .attrs = {{BoolAttr("transpose_a", false), BoolAttr("transpose_b", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
