// The node that is being imported adds each op.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/composition.h"

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

std::vector<int64_t> FromFront(absl::Span<const int64_t> axes, int rank) {
  std::vector<int64_t> positions(axes.begin(), axes.end());
  for (int64_t& axis : positions) axis += axis < 0 ? rank : 0;
  return positions;
}

std::vector<int64_t> AsInts(absl::Span<const int64_t> values) {
  return {values.begin(), values.end()};
}

}  // namespace

const TensorType& Composition::type(ValueId value) const {
  return ok() ? node_.graph().type(value) : scalar_;
}

Expr Composition::Input(int i) { return Of(node_.input(i)); }

Expr Composition::Of(ValueId value) { return Expr(this, value); }

Expr Composition::Scalar(DType dtype, double value) {
  return Of(node_.Scalar(dtype, value));
}

Expr Composition::Constant(HostTensor tensor) {
  return Of(node_.AddConstant(std::move(tensor)));
}

Expr Composition::Ints(const Shape& dims, absl::Span<const int64_t> values) {
  HostTensor tensor(TensorType{DType::kI64, dims, {}});
  absl::c_copy(values, tensor.data<int64_t>().begin());
  return Constant(std::move(tensor));
}

Expr Composition::Numbers(DType dtype, const Shape& dims,
                          absl::Span<const double> values) {
  HostTensor tensor(TensorType{dtype, dims, {}});
  for (size_t i = 0; i < values.size(); ++i) {
    SetFromDouble(tensor, static_cast<int64_t>(i), values[i]);
  }
  return Constant(std::move(tensor));
}

Expr Composition::Filled(DType dtype, absl::Span<const int64_t> dims,
                         double value) {
  return Add(
      kFill, {},
      {{"dtype", dtype}, {"shape", AsInts(dims)}, {"value", Number(value)}});
}

Expr Composition::Iota(int64_t start, int64_t count) {
  return Add(
      kIota, {},
      {{"dtype", DType::kI64}, {"start", Number(start)}, {"count", count}});
}

std::vector<Expr> Composition::AddAll(const OpDef& op,
                                      absl::Span<const Expr> operands,
                                      Attributes attributes, int count) {
  if (ok()) {
    ValueIds ids;
    for (const Expr& operand : operands) ids.push_back(operand.id_);
    const auto added = node_.AddAll(op, std::move(ids), std::move(attributes));
    if (added.ok()) {
      std::vector<Expr> results;
      for (ValueId id : *added) results.push_back(Of(id));
      return results;
    }
    Fail(added.status());
  }
  return std::vector<Expr>(count, Of(ValueId()));
}

Expr Composition::Add(const OpDef& op, absl::Span<const Expr> operands,
                      Attributes attributes) {
  return AddAll(op, operands, std::move(attributes), 1)[0];
}

void Composition::Set(int i, Expr value) {
  if (ok() && node_.has_output(i)) Fail(node_.Set(i, value.id_));
}

absl::Status Composition::Return(Expr value) {
  Set(0, value);
  return status_;
}

int64_t Expr::dim(int position) const {
  const int at = position < 0 ? position + rank() : position;
  return at >= 0 && at < rank() ? dims()[at] : 1;
}

Expr Expr::Apply(const OpDef& unary, Attributes attributes) const {
  return composition_->Add(unary, {*this}, std::move(attributes));
}

Expr Expr::Cast(DType to) const {
  return dtype() == to ? *this : Apply(kCast, {{"to", to}});
}

Expr Expr::Reshaped(absl::Span<const int64_t> shape) const {
  return Apply(kReshape, {{"shape", AsInts(shape)}});
}

Expr Expr::Expanded(absl::Span<const int64_t> shape) const {
  if (absl::MakeConstSpan(dims()) == shape) return *this;
  return Apply(kExpand, {{"shape", AsInts(shape)}});
}

Expr Expr::Transposed(absl::Span<const int64_t> perm) const {
  return Apply(kTranspose, {{"perm", AsInts(perm)}});
}

Expr Expr::Sliced(int axis, int64_t start, int64_t size) const {
  std::vector<int64_t> starts(rank(), 0);
  std::vector<int64_t> sizes(dims().begin(), dims().end());
  const int at = axis < 0 ? axis + rank() : axis;
  if (at < 0 || at >= rank()) return *this;  // after an error
  if (start == 0 && size == sizes[at]) return *this;
  starts[at] = start;
  sizes[at] = size;
  return Apply(kSlice,
               {{"starts", std::move(starts)}, {"sizes", std::move(sizes)}});
}

Expr Expr::Padded(int axis, int64_t before, int64_t after) const {
  std::vector<int64_t> befores(rank(), 0);
  std::vector<int64_t> afters(rank(), 0);
  const int at = axis < 0 ? axis + rank() : axis;
  if (at < 0 || at >= rank()) return *this;  // after an error
  if (before == 0 && after == 0) return *this;
  befores[at] = before;
  afters[at] = after;
  return Apply(kPad,
               {{"before", std::move(befores)}, {"after", std::move(afters)}});
}

Expr Expr::Gathered(Expr indices, int axis) const {
  return composition_->Add(
      kGather, {*this, indices},
      {{"axis", int64_t{axis < 0 ? axis + rank() : axis}}});
}

Expr Expr::Unsqueezed(int axis) const {
  std::vector<int64_t> shape(dims().begin(), dims().end());
  const int at = axis < 0 ? axis + rank() + 1 : axis;
  if (at < 0 || at > rank()) return *this;  // after an error
  shape.insert(shape.begin() + at, 1);
  return Reshaped(shape);
}

Expr Expr::Squeezed(int axis) const {
  std::vector<int64_t> shape(dims().begin(), dims().end());
  const int at = axis < 0 ? axis + rank() : axis;
  if (at < 0 || at >= rank()) return *this;  // after an error
  shape.erase(shape.begin() + at);
  return Reshaped(shape);
}

Expr Expr::Reduced(const OpDef& op, absl::Span<const int64_t> axes,
                   bool keep_dims) const {
  return Apply(op,
               {{"axes", FromFront(axes, rank())}, {"keep_dims", keep_dims}});
}

Expr Expr::Sum(absl::Span<const int64_t> axes, bool keep_dims) const {
  return Reduced(kReduceSum, axes, keep_dims);
}

Expr Expr::Mean(absl::Span<const int64_t> axes, bool keep_dims) const {
  return Reduced(kReduceMean, axes, keep_dims);
}

Expr Joined(const OpDef& op, Expr a, Expr b) {
  return a.composition_->Add(op, {a, b});
}

Expr Joined(const OpDef& op, Expr a, double b) {
  return Joined(op, a, a.composition_->Scalar(a.dtype(), b));
}

Expr Joined(const OpDef& op, double a, Expr b) {
  return Joined(op, b.composition_->Scalar(b.dtype(), a), b);
}

Expr operator+(Expr a, Expr b) { return Joined(kAdd, a, b); }
Expr operator-(Expr a, Expr b) { return Joined(kSub, a, b); }
Expr operator*(Expr a, Expr b) { return Joined(kMul, a, b); }
Expr operator/(Expr a, Expr b) { return Joined(kDiv, a, b); }
Expr operator+(Expr a, double b) { return Joined(kAdd, a, b); }
Expr operator-(Expr a, double b) { return Joined(kSub, a, b); }
Expr operator*(Expr a, double b) { return Joined(kMul, a, b); }
Expr operator/(Expr a, double b) { return Joined(kDiv, a, b); }
Expr operator-(double a, Expr b) { return Joined(kSub, a, b); }

Expr Choose(Expr condition, Expr x, Expr y) {
  return condition.composition_->Add(kWhere, {condition, x, y});
}

Expr Product(Expr a, Expr b, bool transpose_a, bool transpose_b) {
  return a.composition_->Add(
      kMatmul, {a, b},
      {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

Expr Concatenated(absl::Span<const Expr> parts, int axis) {
  const int64_t at = axis < 0 ? axis + parts[0].rank() : axis;
  return parts[0].composition_->Add(kConcat, parts, {{"axis", at}});
}

}  // namespace partita
