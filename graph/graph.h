// A dataflow graph in SSA form, and the module that holds functions,
// variables and constants.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_GRAPH_H_
#define PARTITA_GRAPH_GRAPH_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/attributes.h"
#include "graph/ids.h"
#include "graph/literal_pool.h"
#include "graph/placement.h"
#include "graph/tensor_type.h"

namespace partita {

struct OpDef;
class Graph;
class OpView;

using ValueIds = absl::InlinedVector<ValueId, 4>;

struct Use {
  NodeId node;
  int operand;
  friend bool operator==(const Use&, const Use&) = default;
};

// An input of the graph (no defining node) or one result of a node.
struct Value {
  std::string name;  // without the sigil; may be empty: printed as a number
  TensorType type;
  NodeId defining_node;
  int index = 0;                     // of the input, or of the node's result
  absl::InlinedVector<Use, 2> uses;  // by nodes; graph outputs are not listed
  int num_outputs = 0;               // graph outputs and updates that read it
};

struct Node {
  const OpDef* op = nullptr;
  ValueIds operands;
  ValueIds results;
  Attributes attributes;
  std::vector<std::unique_ptr<Graph>> regions;  // bodies; see only their inputs
  std::string scope;                            // "encoder/layer3"
  std::string location;  // an ONNX node's name or "file.cc:12"
  Placement placement;
  std::optional<KernelBinding> kernel;
};

// The fields of a new node. `attributes` may omit attributes with defaults.
struct NodeSpec {
  const OpDef* op = nullptr;
  ValueIds operands;
  Attributes attributes;
  std::vector<std::unique_ptr<Graph>> regions;
  std::vector<std::string> result_names;  // may be shorter than the results
  std::string scope;
  std::string location;
  Placement placement;
};

// The spec of a node like `node` over `operands`, without the results' names
// and the kernel. Its bodies are copied over `literals`, as in Graph::Clone.
NodeSpec CopyOf(const Node& node, ValueIds operands, LiteralPool* literals);

// The new value of a module variable at the end of a step.
struct VariableUpdate {
  std::string variable;
  ValueId value;
};

// Invariants, checked by Verify (graph/verifier.h) and kept by the calls below:
//  1. Every operand is an input or a result of an earlier node of this graph.
//  2. Value::uses lists each (node, operand) that reads the value, once.
//  3. A node's results have the dtypes and extents that its op infers; layouts
//     are free, and row-major until a pass chooses others.
// Ids stay valid when other nodes are added or erased. Thread safety: const
// calls may run in parallel with each other.
class Graph {
 public:
  Graph(std::string name, LiteralPool* literals);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // A graph with the same text over `literals`, which must contain this graph's
  // literals under the same ids (usually the same pool). Ids are renumbered.
  std::unique_ptr<Graph> Clone(LiteralPool* literals) const;

  const std::string& name() const { return name_; }
  LiteralPool& literals() const { return *literals_; }

  // --- building ---
  ValueId AddInput(std::string name, TensorType type);
  // Adds a node before `before` (at the end if invalid), with the types that
  // its op infers. InvalidArgument, and no change, if the op refuses.
  absl::StatusOr<NodeId> AddNode(NodeSpec spec, NodeId before = {});
  // AddNode for one result: the result.
  absl::StatusOr<ValueId> AddValue(NodeSpec spec, NodeId before = {});
  // A `constant` node.
  ValueId AddConstant(LiteralId literal, std::string name = "",
                      NodeId before = {});
  void SetOutputs(std::vector<ValueId> outputs,
                  std::vector<std::string> names = {});
  void AddUpdate(VariableUpdate update);

  // --- reading ---
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  // The caller's names of the outputs; as many as outputs().
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<VariableUpdate>& updates() const { return updates_; }
  const Node& node(NodeId id) const { return nodes_[id.index].node; }
  Node& node(NodeId id) { return nodes_[id.index].node; }
  const Value& value(ValueId id) const { return values_[id.index]; }
  // To change name and layout; the op determines dtype and extents.
  Value& value(ValueId id) { return values_[id.index]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  OpView view(NodeId id) const;
  bool alive(NodeId id) const;
  int num_nodes() const { return num_alive_; }
  // Ids are below these bounds, so tables over them can be plain vectors.
  int node_id_bound() const { return static_cast<int>(nodes_.size()); }
  int value_id_bound() const { return static_cast<int>(values_.size()); }
  // A snapshot of the nodes in order; later changes do not affect it.
  std::vector<NodeId> order() const;
  std::vector<OpView> ops() const;
  std::vector<OpView> ops(const OpDef& op) const;
  // True if a graph output or update reads the value.
  bool is_output(ValueId id) const { return value(id).num_outputs > 0; }
  // Devices of the inputs, by input index; not placed until a planner has run.
  const Placement& input_placement(int input) const;
  void set_input_placement(int input, Placement placement);

  // --- changing ---
  // Replaces every use, also in outputs and updates. Types must agree.
  void ReplaceAllUses(ValueId from, ValueId to);
  void SetOperand(NodeId node, int operand, ValueId value);
  // Also adds operands, for variadic ops.
  void SetOperands(NodeId node, absl::Span<const ValueId> operands);
  void SetOutput(int output, ValueId value);
  void SetUpdate(int update, ValueId value);
  void SetUpdates(std::vector<VariableUpdate> updates);
  // The node's results must have no uses.
  void Erase(NodeId node);
  void MoveBefore(NodeId node, NodeId before);
  // Gives the node's results the row-major types that its op infers now that
  // its attributes have changed; readers keep theirs, which Verify compares.
  // InvalidArgument, and no change, if the op refuses or infers another number
  // of results.
  absl::Status InferAgain(NodeId node);

 private:
  struct Slot {
    Node node;
    NodeId previous;
    NodeId next;
    bool alive = false;
  };
  void Link(NodeId node, NodeId before);
  void Unlink(NodeId node);
  void DropUse(ValueId value, Use use);
  // One output or update reads `to` in place of `from`; either may be invalid.
  void CountOutput(ValueId from, ValueId to);
  absl::Status Infer(NodeId node, std::vector<TensorType>& types) const;

  std::string name_;
  LiteralPool* literals_;
  std::vector<Slot> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<Placement> input_placements_;
  std::vector<ValueId> outputs_;
  std::vector<std::string> output_names_;
  std::vector<VariableUpdate> updates_;
  NodeId first_;
  NodeId last_;
  int num_alive_ = 0;
};

// State that survives a step: a weight, a cache, a running statistic.
struct Variable {
  std::string name;
  TensorType type;
  LiteralId initial;
  bool trainable = false;
};

// Functions that share variables and constants. A node `variable {name = "w"}`
// reads the variable's value at the start of the step; Graph::updates has its
// new value.
class Module {
 public:
  Module() : literals_(std::make_unique<LiteralPool>()) {}

  // The same functions and variables over the same constants, whose bytes are
  // shared, not copied.
  Module Clone() const;

  Graph& AddFunction(std::string name);
  // Adds a graph that was made over this module's literals.
  Graph& AddFunction(std::unique_ptr<Graph> function);
  // Replaces function `number` by such a graph.
  void SetFunction(int number, std::unique_ptr<Graph> function);
  const std::vector<std::unique_ptr<Graph>>& functions() const {
    return functions_;
  }
  Graph* FindFunction(absl::string_view name) const;
  // The only function; a module with several needs the name.
  Graph& main() const { return *functions_.front(); }

  void AddVariable(Variable variable);
  const std::vector<Variable>& variables() const { return variables_; }
  // The first of that name; null if none.
  const Variable* FindVariable(absl::string_view name) const;

  LiteralPool& literals() const { return *literals_; }

 private:
  std::unique_ptr<LiteralPool> literals_;
  std::vector<Variable> variables_;
  absl::flat_hash_map<std::string, int> variable_numbers_;  // by name
  std::vector<std::unique_ptr<Graph>> functions_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_GRAPH_H_
