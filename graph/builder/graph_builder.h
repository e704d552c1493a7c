// Builds a module in C++, so that the code reads like the maths.
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

// Where the user's code makes a node; the node's location names it.
using CallSite = std::source_location;

// A value of a graph that is being built: a handle, good until Build. Invalid
// once the builder has met an error; then every function that takes it does
// nothing and gives an invalid one, so that code need not check at each step.
class Tensor {
 public:
  Tensor() = default;

  bool valid() const { return id_.valid(); }
  ValueId id() const { return id_; }
  GraphBuilder* builder() const { return builder_; }
  // Of a valid tensor.
  const TensorType& type() const;
  int64_t dim(int i) const { return type().dims[i]; }
  int rank() const { return type().rank(); }
  // The part of the model that it was built in; empty for an input.
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

// A trainable variable as a step reads it, and the loss's gradient by it.
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
// The first error is remembered, with the line of code that caused it, and
// Build returns it. Thread safety: none.
class GraphBuilder {
 public:
  // Begins the module with one function.
  explicit GraphBuilder(std::string function);
  // Goes on with a function of a module that is there, as it was imported or
  // built: to add, say, a loss and its gradients.
  GraphBuilder(Module module, const std::string& function,
               CallSite site = CallSite::current());
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // Begins another function, which shares the variables; what is built from now
  // on belongs to it.
  void BeginFunction(std::string function);

  Tensor Input(std::string name, DType dtype, Shape dims,
               CallSite site = CallSite::current());
  Tensor Constant(HostTensor value, CallSite site = CallSite::current());
  // A constant without dimensions.
  Tensor Scalar(DType dtype, double value, CallSite site = CallSite::current());
  // Declares a variable, and reads it.
  Tensor Variable(std::string name, HostTensor initial, bool trainable = true,
                  CallSite site = CallSite::current());
  // Reads a variable that is declared, in another function or again; one node a
  // function reads it.
  Tensor ReadVariable(const std::string& name,
                      CallSite site = CallSite::current());
  // Whether a variable of that name is declared.
  bool HasVariable(const std::string& name) const {
    return module_.FindVariable(name) != nullptr;
  }
  // What the variable becomes at the end of a step.
  void Update(const std::string& variable, Tensor value,
              CallSite site = CallSite::current());
  void Output(std::string name, Tensor value,
              CallSite site = CallSite::current());

  // The function that is being built, for code that changes what it has, and a
  // value of it.
  Graph& graph() { return *graph_; }
  Tensor TensorOf(ValueId value) { return {this, graph_, value}; }

  // A value of the function by its name, or an output by what callers call it.
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
  // By every trainable variable that the function reads, in the order of their
  // declaration.
  std::vector<Parameter> Gradients(Tensor loss,
                                   CallSite site = CallSite::current());
  // A number for the next random op, another one each time: what keeps the
  // random numbers of the module's ops apart.
  int64_t NextRandomId() { return next_random_id_++; }

  // Remembers an error if it is the first: for functions that build, about what
  // they are asked for.
  void Fail(absl::string_view message, CallSite site = CallSite::current());

  // While it lives, nodes and errors are at `site`, whatever line makes them:
  // for functions that build, whose callers are to be named. Where several
  // live, the outermost counts.
  class At {
   public:
    // No builder: does nothing.
    At(GraphBuilder* builder, const CallSite& site);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    GraphBuilder* builder_;  // null if another one is further out
  };

  // Names the part of the model that is built while it lives; they nest:
  // "encoder/layer3". An empty name changes nothing.
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

  // While it lives, variables become what Update says only in steps where the
  // condition, a bool scalar, holds, and stay as they are in others. They nest:
  // then all conditions must hold.
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
  std::string at_;  // the location that At gives; empty: each node's own
  absl::flat_hash_map<std::string, Tensor> reads_;  // of the function
  Tensor update_if_;                                // invalid: always
  int64_t next_random_id_ = 0;
  absl::Status status_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_GRAPH_BUILDER_H_
