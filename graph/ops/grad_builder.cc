// Terms become nodes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/grad_builder.h"

#include <utility>

#include "graph/ops/op_list.h"

namespace partita {
namespace {

std::vector<int64_t> ToInts(absl::Span<const int64_t> dims) {
  return {dims.begin(), dims.end()};
}

}  // namespace

TensorType Term::type() const {
  return valid() ? builder_->graph().type(id_) : TensorType();
}

GradBuilder::GradBuilder(Graph& graph, NodeId node, std::vector<ValueId> grads,
                         std::vector<bool> needed)
    : graph_(graph),
      node_(node),
      grads_(std::move(grads)),
      needed_(std::move(needed)),
      yielded_(needed_.size()) {}

Term GradBuilder::grad(int i) {
  if (!grads_[i].valid()) grads_[i] = Filled(op().result_type(i), 0).id();
  return {this, grads_[i]};
}

void GradBuilder::Yield(int operand, Term gradient) {
  if (!needs(operand) || !gradient.valid()) return;
  const TensorType type = this->operand(operand).type();
  yielded_[operand] = CastTo(SumTo(gradient, type.dims), type.dtype).id();
}

Term GradBuilder::Apply(const OpDef& op, absl::Span<const Term> operands,
                        Attributes attributes) {
  const std::vector<Term> results =
      ApplyAll(op, operands, std::move(attributes));
  return results.empty() ? Term() : results[0];
}

std::vector<Term> GradBuilder::ApplyAll(const OpDef& op,
                                        absl::Span<const Term> operands,
                                        Attributes attributes) {
  if (!status_.ok()) return {};
  const Node& forward = graph_.node(node_);
  NodeSpec spec{.op = &op,
                .attributes = std::move(attributes),
                .scope = forward.scope,
                .location = forward.location};
  if (forward.placement.devices.size() == 1) {
    spec.placement.devices = forward.placement.devices;
  }
  DType dtype = DType::kF32;  // for numbers: the dtype of the last value
  for (const Term& term : operands) {
    if (term.valid()) dtype = term.type().dtype;
  }
  for (const Term& term : operands) {
    const Term value = term.is_number() ? Scalar(dtype, term.number()) : term;
    if (!value.valid()) return {};
    spec.operands.push_back(value.id());
  }
  const absl::StatusOr<NodeId> node = graph_.AddNode(std::move(spec));
  if (!node.ok()) {
    status_ = node.status();
    return {};
  }
  std::vector<Term> results;
  for (ValueId result : graph_.node(*node).results) {
    results.emplace_back(this, result);
  }
  return results;
}

Term GradBuilder::Constant(HostTensor value) {
  const LiteralId literal = graph_.literals().Add(std::move(value));
  return Apply(kConstant, {}, {{"value", literal}});
}

Term GradBuilder::Scalar(DType dtype, double value) {
  HostTensor tensor(TensorType{dtype, {}, {}});
  SetFromDouble(tensor, 0, value);
  return Constant(std::move(tensor));
}

Term GradBuilder::Filled(const TensorType& type, double value) {
  return Apply(kFill, {},
               {{"dtype", type.dtype},
                {"shape", ToInts(type.dims)},
                {"value", Number(value)}});
}

absl::Status ZeroGradient(GradBuilder&) { return absl::OkStatus(); }

absl::Status PassGradient(GradBuilder& b) {
  b.Yield(0, b.grad(0));
  return b.status();
}

Term Apply(const OpDef& op, absl::Span<const Term> operands,
           Attributes attributes) {
  for (const Term& term : operands) {
    if (!term.valid()) continue;
    return term.builder()->Apply(op, operands, std::move(attributes));
  }
  return {};
}

Term operator+(Term a, Term b) { return Apply(kAdd, {a, b}); }
Term operator-(Term a, Term b) { return Apply(kSub, {a, b}); }
Term operator*(Term a, Term b) { return Apply(kMul, {a, b}); }
Term operator/(Term a, Term b) { return Apply(kDiv, {a, b}); }
Term operator-(Term x) { return Apply(kNeg, {x}); }
Term Greater(Term a, Term b) { return Apply(kGreater, {a, b}); }
Term GreaterEqual(Term a, Term b) { return Apply(kGreaterEqual, {a, b}); }
Term Less(Term a, Term b) { return Apply(kLess, {a, b}); }
Term LessEqual(Term a, Term b) { return Apply(kLessEqual, {a, b}); }
Term Equal(Term a, Term b) { return Apply(kEqual, {a, b}); }
Term Where(Term condition, Term x, Term y) {
  return Apply(kWhere, {condition, x, y});
}

Term Abs(Term x) { return Apply(kAbs, {x}); }
Term Cos(Term x) { return Apply(kCos, {x}); }
Term Cosh(Term x) { return Apply(kCosh, {x}); }
Term Erf(Term x) { return Apply(kErf, {x}); }
Term Exp(Term x) { return Apply(kExp, {x}); }
Term Log(Term x) { return Apply(kLog, {x}); }
Term Reciprocal(Term x) { return Apply(kReciprocal, {x}); }
Term Round(Term x) { return Apply(kRound, {x}); }
Term Sigmoid(Term x) { return Apply(kSigmoid, {x}); }
Term Sign(Term x) { return Apply(kSign, {x}); }
Term Sin(Term x) { return Apply(kSin, {x}); }
Term Sinh(Term x) { return Apply(kSinh, {x}); }
Term Softplus(Term x) { return Apply(kSoftplus, {x}); }
Term Sqrt(Term x) { return Apply(kSqrt, {x}); }
Term Tanh(Term x) { return Apply(kTanh, {x}); }
Term Pow(Term base, Term exponent) { return Apply(kPow, {base, exponent}); }

Term CastTo(Term x, DType to) {
  return x.type().dtype == to ? x : Apply(kCast, {x}, {{"to", to}});
}

Term Sum(Term x, Axes axes) {
  return axes.empty() ? x : Apply(kReduceSum, {x}, {{"axes", std::move(axes)}});
}

Term Mean(Term x, Axes axes) {
  return axes.empty() ? x
                      : Apply(kReduceMean, {x}, {{"axes", std::move(axes)}});
}

Term ReshapeTo(Term x, const Shape& dims) {
  return x.dims() == dims ? x : Apply(kReshape, {x}, {{"shape", ToInts(dims)}});
}

Term ExpandTo(Term x, const Shape& dims) {
  return x.dims() == dims ? x : Apply(kExpand, {x}, {{"shape", ToInts(dims)}});
}

Term TransposeTo(Term x, std::vector<int64_t> perm) {
  return Apply(kTranspose, {x}, {{"perm", std::move(perm)}});
}

Term SumTo(Term x, Shape dims) {
  if (!x.valid()) return {};
  const Shape from = x.dims();
  Axes axes;
  const size_t missing = from.size() - dims.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (d < missing || dims[d - missing] != from[d]) {
      axes.push_back(static_cast<int64_t>(d));
    }
  }
  return ReshapeTo(Sum(x, std::move(axes)), dims);
}

Term SumPerChannel(Term x) {
  if (!x.valid()) return {};
  const Shape dims = x.dims();
  Shape channel(dims.size(), 1);
  channel[1] = dims[1];
  return ReshapeTo(SumTo(x, channel), {dims[1]});
}

Term SliceOf(Term x, int dim, int64_t start, int64_t size) {
  if (!x.valid()) return {};
  std::vector<int64_t> sizes = ToInts(x.dims());
  std::vector<int64_t> starts(sizes.size(), 0);
  starts[dim] = start;
  sizes[dim] = size;
  return Apply(kSlice, {x},
               {{"starts", std::move(starts)}, {"sizes", std::move(sizes)}});
}

Term PadWith(Term x, int dim, int64_t before, int64_t after) {
  if (!x.valid() || (before == 0 && after == 0)) return x;
  std::vector<int64_t> befores(x.dims().size(), 0);
  std::vector<int64_t> afters = befores;
  befores[dim] = before;
  afters[dim] = after;
  return Apply(kPad, {x},
               {{"before", std::move(befores)}, {"after", std::move(afters)}});
}

}  // namespace partita
