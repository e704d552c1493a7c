// What gradients of ops are written with: values of the graph as the terms of
// formulas, and the builder that knows the op, its operands and their readers.
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

// A value of the graph, or a number that takes the dtype of what it meets.
// Invalid after a failure, which the builder keeps; formulas of invalid terms
// make nothing.
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
  // Of a scalar if the term is invalid. Copies, for what they are of moves when
  // nodes are added.
  TensorType type() const;
  Shape dims() const { return type().dims; }

 private:
  GradBuilder* builder_ = nullptr;
  ValueId id_;
  double number_ = 0;
  bool is_number_ = false;
};

// Makes the nodes that take the gradients of one node's results to those of its
// operands. They stand at the end of the graph, in the node's scope and at its
// location, and on its device if it is pinned to one.
class GradBuilder {
 public:
  // `grads` holds the gradient of each result (invalid: none reads it) and
  // `needed` says for each operand whether its gradient is wanted.
  GradBuilder(Graph& graph, NodeId node, std::vector<ValueId> grads,
              std::vector<bool> needed);
  GradBuilder(const GradBuilder&) = delete;
  GradBuilder& operator=(const GradBuilder&) = delete;

  OpView op() const { return graph_.view(node_); }
  Term operand(int i) { return {this, op().operand(i).id()}; }
  Term result(int i) { return {this, op().result(i).id()}; }
  int num_operands() const { return static_cast<int>(needed_.size()); }
  // The gradient of result i; zeros if nothing of the loss reads it.
  Term grad(int i);
  // Whether to yield the gradient of operand i; false if it is left out.
  bool needs(int i) const { return i < num_operands() && needed_[i]; }
  // Sums over what the op broadcast and casts to the operand's dtype; does
  // nothing if the gradient is not needed.
  void Yield(int operand, Term gradient);

  // An op of one result.
  Term Apply(const OpDef& op, absl::Span<const Term> operands,
             Attributes attributes = {});
  // Any op, over terms of which one may be a number. No terms after a failure.
  std::vector<Term> ApplyAll(const OpDef& op, absl::Span<const Term> operands,
                             Attributes attributes = {});
  Term Constant(HostTensor value);
  Term Filled(const TensorType& type, double value);

  const absl::Status& status() const { return status_; }
  // For each operand what was yielded; invalid where nothing was.
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

// The gradient of an op that is constant wherever it is smooth (floor, sign):
// yields nothing, so that paths through it are left out.
absl::Status ZeroGradient(GradBuilder& builder);

// One operand's gradient is the result's, broadcast or cast back.
absl::Status PassGradient(GradBuilder& builder);

// --- formulas ---
using Axes = std::vector<int64_t>;

// The op of the first valid term's builder.
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
// x where the condition holds, else y; one of them may be a number.
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
// Extents of 1 stay where dimensions are summed.
Term Sum(Term x, Axes axes);
Term Mean(Term x, Axes axes);
Term ReshapeTo(Term x, const Shape& dims);
Term ExpandTo(Term x, const Shape& dims);
Term TransposeTo(Term x, std::vector<int64_t> perm);
// Sums over the dimensions that numpy's broadcasting of `dims` to x's extents
// added or repeated.
Term SumTo(Term x, Shape dims);
// Of x [n, channels, ...]: [channels].
Term SumPerChannel(Term x);
// Elements [start, start + size) of one dimension.
Term SliceOf(Term x, int dim, int64_t start, int64_t size);
// Zeros before and after one dimension; negative amounts crop.
Term PadWith(Term x, int dim, int64_t before, int64_t after);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_GRAD_BUILDER_H_
