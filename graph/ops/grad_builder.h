// The tools for gradients of ops: values of the graph as terms of formulas, and
// a builder that knows the op, its operands and their readers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_GRAD_BUILDER_H_
#define PARTITA_GRAPH_OPS_GRAD_BUILDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/op_def.h"

namespace partita {

class GradBuilder;

// A value of the graph, or a number with the dtype of the other operand.
// Invalid after a failure, which the builder stores; formulas of invalid terms
// make no nodes.
class Term {
 public:
  Term() = default;
  Term(double number)
      : number_(number), is_number_(true) {}  // NOLINT: implicit
  Term(GradBuilder* builder, ValueId id) : builder_(builder), id_(id) {}

  bool valid() const { return id_.valid(); }
  bool is_number() const { return is_number_; }
  double number() const { return number_; }
  ValueId id() const { return id_; }
  GradBuilder* builder() const { return builder_; }
  // The type, or that of a scalar if the term is invalid. Returned by value, as
  // the graph's types move when nodes are added.
  TensorType type() const;
  Shape dims() const { return type().dims; }

 private:
  GradBuilder* builder_ = nullptr;
  ValueId id_;
  double number_ = 0;
  bool is_number_ = false;
};

// Makes nodes that compute the gradients of one node's operands from those of
// its results. They are at the end of the graph, in the node's scope and with
// its location, and on its device if it is pinned to one.
class GradBuilder {
 public:
  // `grads` has the gradient of each result (invalid: no loss depends on it).
  // `needed` is true for operands with a requested gradient.
  GradBuilder(Graph& graph, NodeId node, std::vector<ValueId> grads,
              std::vector<bool> needed);
  GradBuilder(const GradBuilder&) = delete;
  GradBuilder& operator=(const GradBuilder&) = delete;

  OpView op() const { return graph_.view(node_); }
  Term operand(int i) { return {this, op().operand(i).id()}; }
  Term result(int i) { return {this, op().result(i).id()}; }
  int num_operands() const { return static_cast<int>(needed_.size()); }
  // The gradient of result i; zeros if no loss depends on it.
  Term grad(int i);
  // True if the gradient of operand i is needed; false for a missing operand.
  bool needs(int i) const { return i < num_operands() && needed_[i]; }
  // Stores the gradient of operand i, summed over broadcast dimensions and cast
  // to the operand's dtype. No effect if it is not needed.
  void Yield(int operand, Term gradient);

  // An op of one result.
  Term Apply(const OpDef& op, absl::Span<const Term> operands,
             Attributes attributes = {});
  // Any op; one of the terms may be a number. No terms after a failure.
  std::vector<Term> ApplyAll(const OpDef& op, absl::Span<const Term> operands,
                             Attributes attributes = {});
  Term Constant(HostTensor value);
  Term Filled(const TensorType& type, double value);

  const absl::Status& status() const { return status_; }
  // The yielded gradient of each operand; invalid if there is none.
  const std::vector<ValueId>& yielded() const { return yielded_; }
  const Graph& graph() const { return graph_; }

 private:
  Term Scalar(DType dtype, double value);

  Graph& graph_;
  NodeId node_;
  std::vector<ValueId> grads_;
  std::vector<bool> needed_;
  std::vector<ValueId> yielded_;
  absl::Status status_;
};

// The gradient of a piecewise constant op (floor, sign): yields nothing, so no
// path goes through it.
absl::Status ZeroGradient(GradBuilder& builder);

// The gradient of an op whose operand's gradient is that of the result, summed
// over broadcast dimensions and cast.
absl::Status PassGradient(GradBuilder& builder);

// --- formulas ---
using Axes = std::vector<int64_t>;

// Applies an op with the builder of the first valid term.
Term Apply(const OpDef& op, absl::Span<const Term> operands,
           Attributes attributes = {});

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator-(Term x);
Term Greater(Term a, Term b);
Term GreaterEqual(Term a, Term b);
Term Less(Term a, Term b);
Term LessEqual(Term a, Term b);
Term Equal(Term a, Term b);
// x where the condition is true, otherwise y; one of them may be a number.
Term Where(Term condition, Term x, Term y);

Term Abs(Term x);
Term Cos(Term x);
Term Cosh(Term x);
Term Erf(Term x);
Term Exp(Term x);
Term Log(Term x);
Term Reciprocal(Term x);
Term Round(Term x);
Term Sigmoid(Term x);
Term Sign(Term x);
Term Sin(Term x);
Term Sinh(Term x);
Term Softplus(Term x);
Term Sqrt(Term x);
Term Tanh(Term x);
Term Pow(Term base, Term exponent);

Term CastTo(Term x, DType to);
// Sums over dimensions, which stay with extent 1.
Term Sum(Term x, Axes axes);
Term Mean(Term x, Axes axes);
Term ReshapeTo(Term x, const Shape& dims);
Term ExpandTo(Term x, const Shape& dims);
Term TransposeTo(Term x, std::vector<int64_t> perm);
// Reverses a broadcast of `dims` to x's extents: sums over added and repeated
// dimensions.
Term SumTo(Term x, Shape dims);
// Sums x [n, channels, ...] to [channels].
Term SumPerChannel(Term x);
// Elements [start, start + size) of one dimension.
Term SliceOf(Term x, int dim, int64_t start, int64_t size);
// Zeros before and after one dimension; negative amounts crop.
Term PadWith(Term x, int dim, int64_t before, int64_t after);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_GRAD_BUILDER_H_
