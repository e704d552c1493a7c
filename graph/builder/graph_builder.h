// Builds a module in C++ with code that reads like the maths.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_GRAPH_BUILDER_H_
#define PARTITA_GRAPH_BUILDER_GRAPH_BUILDER_H_

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"

namespace partita {

class GraphBuilder;

// The line of user code that makes a node; it becomes the node's location.
using CallSite = std::source_location;

// A handle of a value in the graph that is being built, valid until Build.
// After an error it is invalid; functions that take it do nothing and return an
// invalid tensor, so that code need not check each step.
class Tensor {
 public:
  Tensor() = default;

  bool valid() const { return id_.valid(); }
  ValueId id() const { return id_; }
  GraphBuilder* builder() const { return builder_; }
  // Needs: a valid tensor.
  const TensorType& type() const;
  int64_t dim(int i) const { return type().dims[i]; }
  int rank() const { return type().rank(); }
  // The scope in which it was built; empty for an input.
  std::string scope() const;
  // The same value, called `name` in text and messages.
  Tensor Named(std::string name) const;

 private:
  friend class GraphBuilder;
  Tensor(GraphBuilder* builder, Graph* graph, ValueId id)
      : builder_(builder), graph_(graph), id_(id) {}
  GraphBuilder* builder_ = nullptr;
  Graph* graph_ = nullptr;
  ValueId id_;
};

// A trainable variable at the start of a step, and its gradient.
struct Parameter {
  std::string variable;
  Tensor value;
  Tensor gradient;
};

// GraphBuilder b("mlp");
// Tensor x = b.Input("x", DType::kF32, {32, 784});
// Tensor w = b.Variable("w", std::move(weights));
// b.Output("y", Relu(MatMul(x, w) + 1));           // graph/builder/ops.h
// absl::StatusOr<Module> module = b.Build();
//
// Build returns the first error, with the line of code that caused it. Thread
// safety: none.
class GraphBuilder {
 public:
  // Begins the module with one function.
  explicit GraphBuilder(std::string function);
  // Continues with a function of an existing module, for example to add a loss
  // and its gradients.
  GraphBuilder(Module module, const std::string& function,
               CallSite site = CallSite::current());
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // Begins another function, which shares the variables. New nodes belong to
  // it.
  void BeginFunction(std::string function);

  Tensor Input(std::string name, DType dtype, Shape dims,
               CallSite site = CallSite::current());
  Tensor Constant(HostTensor value, CallSite site = CallSite::current());
  // A constant without dimensions.
  Tensor Scalar(DType dtype, double value, CallSite site = CallSite::current());
  // Declares a variable, and reads it.
  Tensor Variable(std::string name, HostTensor initial, bool trainable = true,
                  CallSite site = CallSite::current());
  // Reads a declared variable, also in another function. Each function reads it
  // with one node.
  Tensor ReadVariable(const std::string& name,
                      CallSite site = CallSite::current());
  // True if a variable of that name is declared.
  bool HasVariable(const std::string& name) const {
    return module_.FindVariable(name) != nullptr;
  }
  // Sets the variable's value at the end of a step.
  void Update(const std::string& variable, Tensor value,
              CallSite site = CallSite::current());
  void Output(std::string name, Tensor value,
              CallSite site = CallSite::current());

  // The function that is being built, for code that changes it, and one of its
  // values.
  Graph& graph() { return *graph_; }
  Tensor TensorOf(ValueId value) { return {this, graph_, value}; }

  // A value of the function by its name, or an output by its output name.
  Tensor Find(const std::string& name, CallSite site = CallSite::current());

  // Any op: all its results, or the only one.
  std::vector<Tensor> Ops(const OpDef& op, absl::Span<const Tensor> operands,
                          Attributes attributes = {},
                          CallSite site = CallSite::current());
  Tensor Op(const OpDef& op, absl::Span<const Tensor> operands,
            Attributes attributes = {}, CallSite site = CallSite::current());

  // The gradients of a loss of one element by these values: nodes of the
  // backward pass (graph/gradient/gradient.h).
  std::vector<Tensor> Gradients(Tensor loss, absl::Span<const Tensor> wanted,
                                CallSite site = CallSite::current());
  // Gradients with respect to every trainable variable that the function reads,
  // in the order of declaration.
  std::vector<Parameter> Gradients(Tensor loss,
                                   CallSite site = CallSite::current());
  // A new id for a random op. Different ids make the random numbers of the
  // module's ops independent.
  int64_t NextRandomId() { return next_random_id_++; }

  // Stores an error if it is the first, for functions that check their
  // arguments.
  void Fail(absl::string_view message, CallSite site = CallSite::current());

  // During its lifetime nodes and errors have the location `site`. Library
  // functions use it to report the caller's line. The outermost one counts.
  class At {
   public:
    // Without a builder it has no effect.
    At(GraphBuilder* builder, const CallSite& site);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    GraphBuilder* builder_;  // null if an outer one exists
  };

  // Sets the scope of nodes that are built during its lifetime. Scopes nest:
  // "encoder/layer3". An empty name has no effect.
  class Scope {
   public:
    Scope(GraphBuilder& builder, absl::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    GraphBuilder& builder_;
    const size_t outer_size_;
  };

  // During its lifetime updates apply only in steps where the condition, a bool
  // scalar, is true; otherwise variables keep their values. They nest: all
  // conditions must be true.
  class UpdateIf {
   public:
    UpdateIf(GraphBuilder& builder, Tensor condition,
             CallSite site = CallSite::current());
    ~UpdateIf();
    UpdateIf(const UpdateIf&) = delete;
    UpdateIf& operator=(const UpdateIf&) = delete;

   private:
    GraphBuilder& builder_;
    const Tensor outer_;
  };

  const absl::Status& status() const { return status_; }
  // The verified module, which leaves the builder empty; or the first error.
  absl::StatusOr<Module> Build();

 private:
  friend class Tensor;
  bool Accepts(const Tensor& tensor, const CallSite& site);
  std::string LocationOf(const CallSite& site) const;
  void FinishFunction();

  Module module_;
  Graph* graph_;  // the function that is being built
  std::vector<ValueId> outputs_;
  std::vector<std::string> output_names_;
  std::string scope_;
  std::string at_;  // the location of At; empty: each node's own
  absl::flat_hash_map<std::string, Tensor> reads_;  // of the function
  Tensor update_if_;                                // invalid: always
  int64_t next_random_id_ = 0;
  absl::Status status_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_GRAPH_BUILDER_H_
