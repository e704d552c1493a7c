// A node and its graph as one handle, for reading.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OP_VIEW_H_
#define PARTITA_GRAPH_OP_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace partita {

class OpView;
struct AttrDef;

class ValueView {
 public:
  ValueView(const Graph* graph, ValueId id) : graph_(graph), id_(id) {}
  ValueId id() const { return id_; }
  const Graph& graph() const { return *graph_; }
  const TensorType& type() const { return graph_->type(id_); }
  const std::string& name() const { return graph_->value(id_).name; }
  std::optional<OpView> defining_op() const;
  bool is_input() const { return !graph_->value(id_).defining_node.valid(); }
  // Reads by nodes; a graph output is one more reader.
  int num_uses() const {
    return static_cast<int>(graph_->value(id_).uses.size());
  }
  bool has_one_reader() const {
    return num_uses() + graph_->is_output(id_) == 1;
  }
  // The node that reads the value, if it has exactly one use.
  std::optional<OpView> only_reader() const;
  // True if a `constant` node defines the value and its bytes are available.
  // Does not read them.
  bool is_constant() const { return KnownLiteral().valid(); }
  // The bytes of such a constant, or null. May copy a large weight
  // (LiteralPool::tensor), so check the type first.
  const HostTensor* constant() const;

 private:
  LiteralId KnownLiteral() const;
  const Graph* graph_;
  ValueId id_;
};

// Attribute accessors return the stored value or the op's default. Access to an
// undeclared attribute is a bug and ends the program.
class OpView {
 public:
  OpView(const Graph* graph, NodeId id) : graph_(graph), id_(id) {}

  NodeId id() const { return id_; }
  const Graph& graph() const { return *graph_; }
  const Node& node() const { return graph_->node(id_); }
  const OpDef& op() const { return *node().op; }
  absl::string_view op_name() const;
  bool is(const OpDef& op) const { return node().op == &op; }

  int num_operands() const { return static_cast<int>(node().operands.size()); }
  int num_results() const { return static_cast<int>(node().results.size()); }
  ValueView operand(int i) const { return {graph_, node().operands[i]}; }
  ValueView result(int i) const { return {graph_, node().results[i]}; }
  const TensorType& operand_type(int i) const { return operand(i).type(); }
  const TensorType& result_type(int i) const { return result(i).type(); }

  int64_t attr_int(absl::string_view name) const;
  double attr_float(absl::string_view name) const;
  bool attr_bool(absl::string_view name) const;
  std::string attr_string(absl::string_view name) const;
  const std::vector<int64_t>& attr_ints(absl::string_view name) const;
  const std::vector<double>& attr_floats(absl::string_view name) const;
  DType attr_dtype(absl::string_view name) const;
  LiteralId attr_literal(absl::string_view name) const;
  Number attr_number(absl::string_view name) const;

  const Graph& region(int i) const { return *node().regions[i]; }

  // "softmax %p", for messages.
  std::string ToString() const;
  // "f32[2, 3], i64[]"
  std::string OperandTypesText() const;

 private:
  // The stored value, or null if the declared default holds.
  const AttributeValue* Stored(absl::string_view name) const;
  const AttrDef& Declared(absl::string_view name) const;
  const Graph* graph_;
  NodeId id_;
};

// "%w1"; for an unnamed value its number.
std::string ValueText(const Graph& graph, ValueId value);

}  // namespace partita

#endif  // PARTITA_GRAPH_OP_VIEW_H_
