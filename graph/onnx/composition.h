// Several ops that one ONNX node becomes, without a check after each.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_COMPOSITION_H_
#define PARTITA_GRAPH_ONNX_COMPOSITION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/onnx/node_import.h"
#include "graph/tensor_type.h"

namespace partita {

// What a converter computes with; valid while its Composition lives.
class Term;

// Adds ops to the node that is being imported. The first error stays: nothing
// is added after it, every term is a scalar from then on, and Set returns it.
// So a converter reads as the formula does. Whatever it asks of a term's
// extents must hold of a scalar too: dim() of a dimension that is not there
// is 1.
class Composition {
 public:
  explicit Composition(NodeImport& node) : node_(node) {}
  Composition(const Composition&) = delete;
  Composition& operator=(const Composition&) = delete;

  NodeImport& node() { return node_; }
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  // Keeps the first error.
  void Fail(absl::Status status) { status_.Update(std::move(status)); }

  Term Input(int i);
  Term Of(ValueId value);
  // A constant scalar, and one of any shape.
  Term Scalar(DType dtype, double value);
  Term Constant(HostTensor tensor);
  // Constants of an element for each value.
  Term Ints(const Shape& dims, absl::Span<const int64_t> values);
  Term Numbers(DType dtype, const Shape& dims, absl::Span<const double> values);
  // One value everywhere; and 0, 1, ... of i64.
  Term Filled(DType dtype, absl::Span<const int64_t> dims, double value);
  Term Counted(int64_t count);

  Term Add(const OpDef& op, absl::Span<const Term> operands,
           Attributes attributes = {});
  // As many results as the op has; `count` scalars after an error.
  std::vector<Term> AddAll(const OpDef& op, absl::Span<const Term> operands,
                           Attributes attributes, int count);

  // Names output `i` of the node, if the node has it.
  void Set(int i, Term value);
  // Set(0, value), and how it all went: what most converters end with.
  absl::Status Return(Term value);

 private:
  friend class Term;
  const TensorType& type(ValueId value) const;

  NodeImport& node_;
  absl::Status status_;
  TensorType scalar_{DType::kF32, {}, {}};
};

class Term {
 public:
  const TensorType& type() const { return composition_->type(id_); }
  DType dtype() const { return type().dtype; }
  int rank() const { return type().rank(); }
  const Shape& dims() const { return type().dims; }
  // A negative position counts from the end.
  int64_t dim(int position) const;

  // --- moves ---
  Term Cast(DType to) const;  // itself if it has the type
  Term Reshaped(absl::Span<const int64_t> shape) const;
  Term Expanded(absl::Span<const int64_t> shape) const;
  Term Transposed(absl::Span<const int64_t> perm) const;
  // Elements start, start + 1, ... along one axis.
  Term Sliced(int axis, int64_t start, int64_t size) const;
  // Zeros before and after one axis; negative amounts crop.
  Term Padded(int axis, int64_t before, int64_t after) const;
  // Slices along one axis, by indices.
  Term Gathered(Term indices, int axis) const;
  // An extent of 1 in a new dimension, or without one of extent 1.
  Term Unsqueezed(int axis) const;
  Term Squeezed(int axis) const;

  // --- sums over axes; a negative one counts from the end ---
  Term Sum(absl::Span<const int64_t> axes, bool keep_dims = true) const;
  Term Mean(absl::Span<const int64_t> axes, bool keep_dims = true) const;

  // --- functions of its elements ---
  Term Apply(const OpDef& unary, Attributes attributes = {}) const;

 private:
  friend class Composition;
  friend Term Joined(const OpDef& op, Term a, Term b);
  friend Term Joined(const OpDef& op, Term a, double b);
  friend Term Joined(const OpDef& op, double a, Term b);
  friend Term Choose(Term condition, Term x, Term y);
  friend Term Product(Term a, Term b, bool transpose_a, bool transpose_b);
  friend Term Concatenated(absl::Span<const Term> parts, int axis);

  Term(Composition* composition, ValueId id)
      : composition_(composition), id_(id) {}
  Term Reduced(const OpDef& op, absl::Span<const int64_t> axes,
               bool keep_dims) const;

  Composition* composition_;
  ValueId id_;
};

// A binary op with numpy's broadcasting; a number has the other's dtype.
Term Joined(const OpDef& op, Term a, Term b);
Term Joined(const OpDef& op, Term a, double b);
Term Joined(const OpDef& op, double a, Term b);

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator+(Term a, double b);
Term operator-(Term a, double b);
Term operator*(Term a, double b);
Term operator/(Term a, double b);
Term operator-(double a, Term b);

// x where the condition holds, else y.
Term Choose(Term condition, Term x, Term y);
// Matrix products of the last two dimensions; the leading ones broadcast.
Term Product(Term a, Term b, bool transpose_a = false,
             bool transpose_b = false);
// One behind the other along an axis; at least one part.
Term Concatenated(absl::Span<const Term> parts, int axis);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_COMPOSITION_H_
