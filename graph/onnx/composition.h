// Several ops for one ONNX node, without an error check after each.
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

// The most elements of a constant that a converter computes: 32 MB of f32.
// Extents are untrusted, so a larger constant is refused before it is
// allocated.
inline constexpr int64_t kMaxTable = int64_t{1} << 23;

// A converter's value; valid while its Composition exists.
class Expr;

// Adds ops to the node that is being imported. The first error is kept: after
// it nothing is added, every expression is a scalar, and Set returns the error.
// So a converter reads like the formula. Whatever it assumes about a term's
// extents must also hold for a scalar: dim() of a missing dimension is 1.
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

  Expr Input(int i);
  Expr Of(ValueId value);
  // A constant scalar, and one of any shape.
  Expr Scalar(DType dtype, double value);
  Expr Constant(HostTensor tensor);
  // Constants with one element for each value.
  Expr Ints(const Shape& dims, absl::Span<const int64_t> values);
  Expr Numbers(DType dtype, const Shape& dims, absl::Span<const double> values);
  // One value everywhere; and start, start + 1, ... as i64.
  Expr Filled(DType dtype, absl::Span<const int64_t> dims, double value);
  Expr Iota(int64_t start, int64_t count);

  Expr Add(const OpDef& op, absl::Span<const Expr> operands,
           Attributes attributes = {});
  // As many results as the op has; `count` scalars after an error.
  std::vector<Expr> AddAll(const OpDef& op, absl::Span<const Expr> operands,
                           Attributes attributes, int count);

  // Names output `i` of the node, if the node has it.
  void Set(int i, Expr value);
  // Set(0, value), and the first error, if any: the end of most converters.
  absl::Status Return(Expr value);

 private:
  friend class Expr;
  const TensorType& type(ValueId value) const;

  NodeImport& node_;
  absl::Status status_;
  TensorType scalar_{DType::kF32, {}, {}};
};

class Expr {
 public:
  const TensorType& type() const { return composition_->type(id_); }
  DType dtype() const { return type().dtype; }
  int rank() const { return type().rank(); }
  const Shape& dims() const { return type().dims; }
  // A negative position counts from the end.
  int64_t dim(int position) const;

  // --- moves ---
  Expr Cast(DType to) const;  // unchanged if it has the type
  Expr Reshaped(absl::Span<const int64_t> shape) const;
  Expr Expanded(absl::Span<const int64_t> shape) const;
  Expr Transposed(absl::Span<const int64_t> perm) const;
  // Elements start, start + 1, ... along one axis.
  Expr Sliced(int axis, int64_t start, int64_t size) const;
  // Zeros before and after one axis; negative amounts crop.
  Expr Padded(int axis, int64_t before, int64_t after) const;
  // Slices along one axis, by indices.
  Expr Gathered(Expr indices, int axis) const;
  // Adds a dimension of extent 1, or removes one.
  Expr Unsqueezed(int axis) const;
  Expr Squeezed(int axis) const;

  // --- sums over axes; a negative one counts from the end ---
  Expr Sum(absl::Span<const int64_t> axes, bool keep_dims = true) const;
  Expr Mean(absl::Span<const int64_t> axes, bool keep_dims = true) const;

  // --- elementwise functions ---
  Expr Apply(const OpDef& unary, Attributes attributes = {}) const;

 private:
  friend class Composition;
  friend Expr Joined(const OpDef& op, Expr a, Expr b);
  friend Expr Joined(const OpDef& op, Expr a, double b);
  friend Expr Joined(const OpDef& op, double a, Expr b);
  friend Expr Choose(Expr condition, Expr x, Expr y);
  friend Expr Product(Expr a, Expr b, bool transpose_a, bool transpose_b);
  friend Expr Concatenated(absl::Span<const Expr> parts, int axis);

  Expr(Composition* composition, ValueId id)
      : composition_(composition), id_(id) {}
  Expr Reduced(const OpDef& op, absl::Span<const int64_t> axes,
               bool keep_dims) const;

  Composition* composition_;
  ValueId id_;
};

// A binary op with numpy's broadcasting; a number gets the other's dtype.
Expr Joined(const OpDef& op, Expr a, Expr b);
Expr Joined(const OpDef& op, Expr a, double b);
Expr Joined(const OpDef& op, double a, Expr b);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator+(Expr a, double b);
Expr operator-(Expr a, double b);
Expr operator*(Expr a, double b);
Expr operator/(Expr a, double b);
Expr operator-(double a, Expr b);

// x if the condition holds, else y.
Expr Choose(Expr condition, Expr x, Expr y);
// Matrix products of the last two dimensions; the leading ones broadcast.
Expr Product(Expr a, Expr b, bool transpose_a = false,
             bool transpose_b = false);
// Concatenates along an axis; at least one part.
Expr Concatenated(absl::Span<const Expr> parts, int axis);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_COMPOSITION_H_
