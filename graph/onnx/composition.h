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

// Elements of a constant that a converter computes: 32 MB of f32. Extents come
// from anywhere, so what would be larger is refused before it is made.
inline constexpr int64_t kMaxTable = int64_t{1} << 23;

// What a converter computes with; valid while its Composition lives.
class Expr;

// Adds ops to the node that is being imported. The first error stays: nothing
// is added after it, every expression is a scalar from then on, and Set returns
// it. So a converter reads as the formula does. Whatever it asks of a term's
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

  Expr Input(int i);
  Expr Of(ValueId value);
  // A constant scalar, and one of any shape.
  Expr Scalar(DType dtype, double value);
  Expr Constant(HostTensor tensor);
  // Constants of an element for each value.
  Expr Ints(const Shape& dims, absl::Span<const int64_t> values);
  Expr Numbers(DType dtype, const Shape& dims, absl::Span<const double> values);
  // One value everywhere; and start, start + 1, ... of i64.
  Expr Filled(DType dtype, absl::Span<const int64_t> dims, double value);
  Expr Iota(int64_t start, int64_t count);

  Expr Add(const OpDef& op, absl::Span<const Expr> operands,
           Attributes attributes = {});
  // As many results as the op has; `count` scalars after an error.
  std::vector<Expr> AddAll(const OpDef& op, absl::Span<const Expr> operands,
                           Attributes attributes, int count);

  // Names output `i` of the node, if the node has it.
  void Set(int i, Expr value);
  // Set(0, value), and how it all went: what most converters end with.
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
  Expr Cast(DType to) const;  // itself if it has the type
  Expr Reshaped(absl::Span<const int64_t> shape) const;
  Expr Expanded(absl::Span<const int64_t> shape) const;
  Expr Transposed(absl::Span<const int64_t> perm) const;
  // Elements start, start + 1, ... along one axis.
  Expr Sliced(int axis, int64_t start, int64_t size) const;
  // Zeros before and after one axis; negative amounts crop.
  Expr Padded(int axis, int64_t before, int64_t after) const;
  // Slices along one axis, by indices.
  Expr Gathered(Expr indices, int axis) const;
  // An extent of 1 in a new dimension, or without one of extent 1.
  Expr Unsqueezed(int axis) const;
  Expr Squeezed(int axis) const;

  // --- sums over axes; a negative one counts from the end ---
  Expr Sum(absl::Span<const int64_t> axes, bool keep_dims = true) const;
  Expr Mean(absl::Span<const int64_t> axes, bool keep_dims = true) const;

  // --- functions of its elements ---
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

// A binary op with numpy's broadcasting; a number has the other's dtype.
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

// x where the condition holds, else y.
Expr Choose(Expr condition, Expr x, Expr y);
// Matrix products of the last two dimensions; the leading ones broadcast.
Expr Product(Expr a, Expr b, bool transpose_a = false,
             bool transpose_b = false);
// In sequence along an axis; at least one part.
Expr Concatenated(absl::Span<const Expr> parts, int axis);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_COMPOSITION_H_
