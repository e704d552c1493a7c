// Each op is added by the node that is being imported.
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

Term Composition::Input(int i) { return Of(node_.input(i)); }

Term Composition::Of(ValueId value) { return Term(this, value); }

Term Composition::Scalar(DType dtype, double value) {
  return Of(node_.Scalar(dtype, value));
}

Term Composition::Constant(HostTensor tensor) {
  return Of(node_.AddConstant(std::move(tensor)));
}

Term Composition::Ints(const Shape& dims, absl::Span<const int64_t> values) {
  HostTensor tensor(TensorType{DType::kI64, dims, {}});
  absl::c_copy(values, tensor.data<int64_t>().begin());
  return Constant(std::move(tensor));
}

Term Composition::Numbers(DType dtype, const Shape& dims,
                          absl::Span<const double> values) {
  HostTensor tensor(TensorType{dtype, dims, {}});
  for (size_t i = 0; i < values.size(); ++i) {
    SetFromDouble(tensor, static_cast<int64_t>(i), values[i]);
  }
  return Constant(std::move(tensor));
}

Term Composition::Filled(DType dtype, absl::Span<const int64_t> dims,
                         double value) {
  return Add(
      kFill, {},
      {{"dtype", dtype}, {"shape", AsInts(dims)}, {"value", Number(value)}});
}

Term Composition::Counted(int64_t count) {
  return Add(kIota, {}, {{"dtype", DType::kI64}, {"count", count}});
}

std::vector<Term> Composition::AddAll(const OpDef& op,
                                      absl::Span<const Term> operands,
                                      Attributes attributes, int count) {
  if (ok()) {
    ValueIds ids;
    for (const Term& operand : operands) ids.push_back(operand.id_);
    const auto added = node_.AddAll(op, std::move(ids), std::move(attributes));
    if (added.ok()) {
      std::vector<Term> results;
      for (ValueId id : *added) results.push_back(Of(id));
      return results;
    }
    Fail(added.status());
  }
  return std::vector<Term>(count, Of(ValueId()));
}

Term Composition::Add(const OpDef& op, absl::Span<const Term> operands,
                      Attributes attributes) {
  return AddAll(op, operands, std::move(attributes), 1)[0];
}

void Composition::Set(int i, Term value) {
  if (ok() && node_.has_output(i)) Fail(node_.Set(i, value.id_));
}

absl::Status Composition::Return(Term value) {
  Set(0, value);
  return status_;
}

int64_t Term::dim(int position) const {
  const int at = position < 0 ? position + rank() : position;
  return at >= 0 && at < rank() ? dims()[at] : 1;
}

Term Term::Apply(const OpDef& unary, Attributes attributes) const {
  return composition_->Add(unary, {*this}, std::move(attributes));
}

Term Term::Cast(DType to) const {
  return dtype() == to ? *this : Apply(kCast, {{"to", to}});
}

Term Term::Reshaped(absl::Span<const int64_t> shape) const {
  return Apply(kReshape, {{"shape", AsInts(shape)}});
}

Term Term::Expanded(absl::Span<const int64_t> shape) const {
  if (absl::MakeConstSpan(dims()) == shape) return *this;
  return Apply(kExpand, {{"shape", AsInts(shape)}});
}

Term Term::Transposed(absl::Span<const int64_t> perm) const {
  return Apply(kTranspose, {{"perm", AsInts(perm)}});
}

Term Term::Sliced(int axis, int64_t start, int64_t size) const {
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

Term Term::Padded(int axis, int64_t before, int64_t after) const {
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

Term Term::Gathered(Term indices, int axis) const {
  return composition_->Add(
      kGather, {*this, indices},
      {{"axis", int64_t{axis < 0 ? axis + rank() : axis}}});
}

Term Term::Unsqueezed(int axis) const {
  std::vector<int64_t> shape(dims().begin(), dims().end());
  const int at = axis < 0 ? axis + rank() + 1 : axis;
  if (at < 0 || at > rank()) return *this;  // after an error
  shape.insert(shape.begin() + at, 1);
  return Reshaped(shape);
}

Term Term::Squeezed(int axis) const {
  std::vector<int64_t> shape(dims().begin(), dims().end());
  const int at = axis < 0 ? axis + rank() : axis;
  if (at < 0 || at >= rank()) return *this;  // after an error
  shape.erase(shape.begin() + at);
  return Reshaped(shape);
}

Term Term::Reduced(const OpDef& op, absl::Span<const int64_t> axes,
                   bool keep_dims) const {
  return Apply(op,
               {{"axes", FromFront(axes, rank())}, {"keep_dims", keep_dims}});
}

Term Term::Sum(absl::Span<const int64_t> axes, bool keep_dims) const {
  return Reduced(kReduceSum, axes, keep_dims);
}

Term Term::Mean(absl::Span<const int64_t> axes, bool keep_dims) const {
  return Reduced(kReduceMean, axes, keep_dims);
}

Term Joined(const OpDef& op, Term a, Term b) {
  return a.composition_->Add(op, {a, b});
}

Term Joined(const OpDef& op, Term a, double b) {
  return Joined(op, a, a.composition_->Scalar(a.dtype(), b));
}

Term Joined(const OpDef& op, double a, Term b) {
  return Joined(op, b.composition_->Scalar(b.dtype(), a), b);
}

Term operator+(Term a, Term b) { return Joined(kAdd, a, b); }
Term operator-(Term a, Term b) { return Joined(kSub, a, b); }
Term operator*(Term a, Term b) { return Joined(kMul, a, b); }
Term operator/(Term a, Term b) { return Joined(kDiv, a, b); }
Term operator+(Term a, double b) { return Joined(kAdd, a, b); }
Term operator-(Term a, double b) { return Joined(kSub, a, b); }
Term operator*(Term a, double b) { return Joined(kMul, a, b); }
Term operator/(Term a, double b) { return Joined(kDiv, a, b); }
Term operator-(double a, Term b) { return Joined(kSub, a, b); }

Term Choose(Term condition, Term x, Term y) {
  return condition.composition_->Add(kWhere, {condition, x, y});
}

Term Product(Term a, Term b, bool transpose_a, bool transpose_b) {
  return a.composition_->Add(
      kMatmul, {a, b},
      {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

Term Concatenated(absl::Span<const Term> parts, int axis) {
  const int64_t at = axis < 0 ? axis + parts[0].rank() : axis;
  return parts[0].composition_->Add(kConcat, parts, {{"axis", at}});
}

}  // namespace partita
