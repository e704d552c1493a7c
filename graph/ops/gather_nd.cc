// Gather and scatter of slices at index vectors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/indexing.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/scatter_gradient.h"

namespace partita {
namespace {

// How index vectors address x: [batch..., indexed..., slice...].
struct Addressing {
  int batch = 0;
  int indexed = 0;           // length of an index vector
  Shape extents;             // of the indexed dimensions
  Shape strides;             // of the indexed dimensions, in elements
  int64_t slice = 1;         // elements of a slice
  int64_t per_batch = 1;     // index vectors for each batch position
  int64_t batch_stride = 1;  // elements of x for each batch position
  int64_t batches = 1;
};

int BatchDims(const OpView& op) {
  return FindAttr(op.op(), "batch_dims") == nullptr
             ? 0
             : static_cast<int>(op.attr_int("batch_dims"));
}

Addressing AddressingOf(const OpView& op) {
  const Shape& x = op.operand_type(0).dims;
  const Shape& indices = op.operand_type(1).dims;
  const absl::Span<const int64_t> all = absl::MakeConstSpan(x);
  const Shape strides = RowMajorStrides(x);
  Addressing a;
  a.batch = BatchDims(op);
  a.indexed = static_cast<int>(indices.back());
  a.extents = ToShape(all.subspan(a.batch, a.indexed));
  a.strides = ToShape(absl::MakeConstSpan(strides).subspan(a.batch, a.indexed));
  a.slice = Product(all.subspan(a.batch + a.indexed));
  a.batch_stride = Product(all.subspan(a.batch));
  a.batches = Product(all.subspan(0, a.batch));
  a.per_batch = Product(absl::MakeConstSpan(indices).subspan(
      a.batch, indices.size() - 1 - a.batch));
  return a;
}

absl::Status CheckIndices(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  const TensorType& indices = op.operand_type(1);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kIntegers));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 1, 1));
  const int64_t batch = FindAttr(op.op(), "batch_dims") == nullptr
                            ? 0
                            : op.attr_int("batch_dims");
  if (batch < 0 || batch >= indices.rank() || batch > x.rank()) {
    return BadOp(op, absl::StrCat("batch_dims ", batch),
                 absl::StrCat("0..", std::min(indices.rank() - 1, x.rank())),
                 "correct batch_dims");
  }
  for (int d = 0; d < batch; ++d) {
    if (x.dims[d] == indices.dims[d]) continue;
    return BadExtents(
        op, Describe(op, 1),
        absl::StrCat("the first ", batch, " extents of ", Describe(op, 0)),
        "correct batch_dims or the indices");
  }
  if (indices.dims.back() <= x.rank() - batch) return absl::OkStatus();
  return BadExtents(op, Describe(op, 1),
                    absl::StrCat("index vectors of at most ", x.rank() - batch),
                    "shorten the last dimension of the indices");
}

// The extents of the slices that the op reads or writes: [batch..., i...,
// slice...].
Shape IndexedDims(const OpView& op) {
  const Shape& x = op.operand_type(0).dims;
  const Shape& indices = op.operand_type(1).dims;
  Shape dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), x.begin() + BatchDims(op) + indices.back(), x.end());
  return dims;
}

absl::Status InferGather(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckIndices(op));
  return results.Set(0, {op.operand_type(0).dtype, IndexedDims(op), {}});
}

absl::Status InferScatter(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckIndices(op));
  return InferUpdates(op, IndexedDims(op), results);
}

// visit(offset of the slice in x, its position among all indexed slices).
template <typename Visit>
absl::Status ForEachSlice(const OpView& op, const HostTensor& indices,
                          const Addressing& a, Visit&& visit) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> positions,
                           ReadIndices(op, indices, a.extents));
  const int64_t* index = positions.data();
  for (int64_t b = 0; b < a.batches; ++b) {
    for (int64_t i = 0; i < a.per_batch; ++i, index += a.indexed) {
      int64_t offset = b * a.batch_stride;
      for (int d = 0; d < a.indexed; ++d) offset += index[d] * a.strides[d];
      visit(offset, b * a.per_batch + i);
    }
  }
  return absl::OkStatus();
}

absl::Status EvaluateGather(const OpView& op, absl::Span<const HostTensor> in,
                            absl::Span<HostTensor> out) {
  const Addressing a = AddressingOf(op);
  const int64_t bytes = BitsOf(in[0].type().dtype) / 8;
  return ForEachSlice(op, in[1], a, [&](int64_t offset, int64_t slice) {
    std::copy_n(in[0].bytes() + offset * bytes, a.slice * bytes,
                out[0].bytes() + slice * a.slice * bytes);
  });
}

absl::Status EvaluateScatter(const OpView& op, absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  const Addressing a = AddressingOf(op);
  const ScatterReduction reduction = ScatterReductionOf(op);
  CopyBytes(in[0], out[0]);
  return VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const T* updates = reinterpret_cast<const T*>(in[2].bytes());
    T* y = reinterpret_cast<T*>(out[0].bytes());
    return ForEachSlice(op, in[1], a, [&](int64_t offset, int64_t slice) {
      for (int64_t i = 0; i < a.slice; ++i) {
        y[offset + i] =
            Combined<T>(reduction, y[offset + i], updates[slice * a.slice + i]);
      }
    });
  });
}

// [b... x... s...], [b... i... v] -> [b... i... s...]
DimensionRule GatherRule(const OpView& op) {
  RuleBuilder rule(op);
  const Addressing a = AddressingOf(op);
  const TensorType& indices = op.operand_type(1);
  for (int d = 0; d < indices.rank() - 1; ++d) {
    const int factor = rule.Kept(absl::StrCat("i", d), indices.dims[d]);
    if (d < a.batch) rule.Operand(0, d, factor);
    rule.Operand(1, d, factor).Result(0, d, factor);
  }
  int next = indices.rank() - 1;
  for (int d = a.batch + a.indexed; d < op.operand_type(0).rank(); ++d) {
    rule.Keep(absl::StrCat("s", d), d, next++);
  }
  return rule.Finish();
}

// [x... s...], [i... v], [i... s...] -> [x... s...]
DimensionRule ScatterRule(const OpView& op) {
  RuleBuilder rule(op);
  const Addressing a = AddressingOf(op);
  int next = op.operand_type(1).rank() - 1;
  for (int d = a.indexed; d < op.operand_type(0).rank(); ++d) {
    const int factor =
        rule.Kept(absl::StrCat("s", d), op.operand_type(0).dims[d]);
    rule.Operand(0, d, factor).Operand(2, next++, factor).Result(0, d, factor);
  }
  return rule.Finish();
}

// Index vectors with the batch position added, as scatter_nd has no batch:
// [b..., i..., v] -> [b..., i..., b + v].
Term WithBatchIndices(GradBuilder& b, int batch) {
  const Term indices = b.operand(1);
  const DType dtype = indices.type().dtype;
  Shape column = indices.dims();
  column.back() = 1;
  std::vector<Term> parts;
  for (int d = 0; d < batch; ++d) {
    Shape line(column.size(), 1);
    line[d] = column[d];
    const Term count =
        b.Apply(kIota, {}, {{"dtype", dtype}, {"count", column[d]}});
    parts.push_back(ExpandTo(ReshapeTo(count, line), column));
  }
  parts.push_back(indices);
  return batch == 0 ? indices : Apply(kConcat, parts, {{"axis", -1}});
}

absl::Status GatherGradient(GradBuilder& b) {
  const Term indices = WithBatchIndices(b, BatchDims(b.op()));
  const Term zeros = b.Filled(b.operand(0).type(), 0);
  b.Yield(0, Apply(kScatterNd, {zeros, indices, b.grad(0)},
                   {{"reduction", "add"}}));
  return b.status();
}

absl::Status ScatterNdGradient(GradBuilder& b) {
  return ScatterGradient(b, {&kGatherNd, &kScatterNd, b.operand(1), {}});
}

std::vector<OpSample> GatherNdSamples() {
  return {
      {{F32({3, 4, 6, 5}), I64({3, 7, 2}, 0, 3)}, {{"batch_dims", 1}}},
      {{F32({4, 6, 5}), I64({7, 2}, 0, 3)}},
  };
}

std::vector<OpSample> ScatterNdSamples() {
  return {{{F32({4, 6, 5}), I64({7, 1}, 0, 3), F32({7, 6, 5})},
           {{"reduction", "max"}}}};
}

}  // namespace

extern constinit const OpDef kGatherNd = {
    .name = "gather_nd",
    .doc =
        "The slices of x at the positions of index vectors, which are the last "
        "dimension of the indices.",
    .operands = {{{"x"}, {"indices"}}},
    .attrs = {{IntAttr("batch_dims", 0)}},
    .infer = InferGather,
    .eval = EvaluateGather,
    .gradient = GatherGradient,
    .cost = MoveCost,
    .dimension_rule = GatherRule,
    .samples = GatherNdSamples,
};

extern constinit const OpDef kScatterNd = {
    .name = "scatter_nd",
    .doc =
        "x with updates stored, or reduced, as slices at the positions of "
        "index vectors.",
    .operands = {{{"x"}, {"indices"}, {"updates"}}},
    .attrs = {{StringAttr("reduction", "none")}},
    .tolerance = Tolerance::kReduction,
    .infer = InferScatter,
    .eval = EvaluateScatter,
    .gradient = ScatterNdGradient,
    .cost = MoveCost,
    .dimension_rule = ScatterRule,
    .samples = ScatterNdSamples,
};

}  // namespace partita
