// Value numbering over both normal forms: equal numbers are equal values.
// SPDX-License-Identifier: Apache-2.0

#include "binding/verify_binding.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "binding/compare_nodes.h"
#include "binding/constant_numbers.h"
#include "binding/normal_form.h"
#include "graph/check_layouts.h"
#include "graph/core_ops.h"
#include "graph/id_vector.h"
#include "graph/op_def.h"
#include "graph/shard.h"

namespace partita {
namespace {

constexpr size_t kMaxFaults = 20;

// Nodes that compute equal values: same op, attributes, operands and placement.
struct NodeClass {
  const NormalNode* example;  // of the placed graph
  NodeKey key;
  std::vector<ValueNumber> results;
  int live_placed = 0;
  int live_bound = 0;
};

// Where a value is read from outside of the graph: the maker's placement.
struct Port {
  TensorType type;
  absl::InlinedVector<std::string, 1> devices;
  Sharding sharding;
};

Port PortOf(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (!value.defining_node.valid()) {
    const Placement& placement = graph.input_placement(value.index);
    return {value.type, placement.devices, ShardingOf(placement.results, 0)};
  }
  const Placement& placement = graph.node(value.defining_node).placement;
  return {value.type, placement.devices,
          ShardingOf(placement.results, value.index)};
}

std::string PortText(const Port& port) {
  return absl::StrCat(port.type.ToString(), " on ",
                      absl::StrJoin(port.devices, ", "));
}

bool SamePort(const Port& a, const Port& b) {
  return a.type == b.type && a.devices == b.devices && a.sharding == b.sharding;
}

class Verifier {
 public:
  Verifier(const Graph& placed, const Graph& bound)
      : placed_(placed),
        bound_(bound),
        placed_form_(placed),
        bound_form_(bound),
        of_placed_(placed_form_.num_values),
        of_bound_(bound_form_.num_values) {}

  absl::Status Run() {
    for (const std::string& fault : placed_form_.faults) Fault(fault);
    for (const std::string& fault : bound_form_.faults) Fault(fault);
    CompareInputs();
    NumberPlaced();
    NumberBound();
    CompareCounts();
    CompareOutputs();
    CompareUpdates();
    if (faults_.empty()) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("bug: choosing kernels for @", placed_.name(),
                     " changed it: ", absl::StrJoin(faults_, "\n")));
  }

 private:
  using Numbering = IdVector<NormalValueId, ValueNumber>;

  void Fault(std::string text) {
    if (faults_.size() < kMaxFaults) faults_.push_back(std::move(text));
  }

  void Fault(absl::string_view where, absl::string_view found,
             absl::string_view expected) {
    Fault(absl::StrCat(where, ": found ", found, "; expected ", expected));
  }

  void ComparePorts(absl::string_view where, ValueId before, ValueId after) {
    const Port expected = PortOf(placed_, before);
    const Port found = PortOf(bound_, after);
    if (SamePort(found, expected)) return;
    Fault(where,
          PortText(found) == PortText(expected) ? "another sharding"
                                                : PortText(found),
          PortText(expected));
  }

  void CompareInputs() {
    if (placed_.inputs().size() != bound_.inputs().size()) {
      return Fault("inputs", absl::StrCat(bound_.inputs().size()),
                   absl::StrCat(placed_.inputs().size()));
    }
    for (size_t i = 0; i < placed_.inputs().size(); ++i) {
      const ValueId before = placed_.inputs()[i];
      const ValueId after = bound_.inputs()[i];
      const std::string where = absl::StrCat("input ", i);
      ComparePorts(where, before, after);
      if (placed_.value(before).name != bound_.value(after).name) {
        Fault(where, absl::StrCat("%", bound_.value(after).name),
              absl::StrCat("%", placed_.value(before).name));
      }
      const ValueNumber number = NewNumber();
      of_placed_[placed_form_.inputs[i]] = number;
      of_bound_[bound_form_.inputs[i]] = number;
    }
  }

  ValueNumber NewNumber() { return ValueNumber(next_++); }

  static std::vector<ValueNumber> NumbersOf(
      const std::vector<NormalValueId>& values, const Numbering& numbering) {
    std::vector<ValueNumber> numbers;
    for (NormalValueId value : values) numbers.push_back(numbering[value]);
    return numbers;
  }

  // The number of a constant's elements.
  int ElementsOf(const NormalNode& node) {
    if (!node.op.is(kConstant)) return kNoElements;
    const std::optional<int> elements = constants_.Of(
        node.op.graph().literals(), node.op.attr_literal("value"));
    if (!elements.has_value()) {
      Fault(NodeText(node), "padding that is not zero", "zeros there");
    }
    return elements.value_or(kNoElements);
  }

  NodeKey KeyIn(const NormalNode& node, const Numbering& numbering) {
    return KeyOf(node, NumbersOf(node.operands, numbering), ElementsOf(node));
  }

  // The class of the node; null if there is none.
  NodeClass* Find(const NormalNode& node, const NodeKey& key) {
    const auto found = by_hash_.find(key.hash);
    if (found == by_hash_.end()) return nullptr;
    for (int index : found->second) {
      NodeClass& candidate = classes_[index];
      if (candidate.key.operands == key.operands &&
          candidate.key.elements == key.elements &&
          DifferenceOf(node, *candidate.example).empty()) {
        return &candidate;
      }
    }
    return nullptr;
  }

  NodeClass& AddClass(const NormalNode& node, NodeKey key) {
    by_hash_[key.hash].push_back(static_cast<int>(classes_.size()));
    classes_.push_back({&node, std::move(key)});
    for (size_t i = 0; i < node.results.size(); ++i) {
      classes_.back().results.push_back(NewNumber());
    }
    return classes_.back();
  }

  static void SetNumbers(const std::vector<NormalValueId>& results,
                         const std::vector<ValueNumber>& numbers,
                         Numbering& numbering) {
    for (size_t i = 0; i < results.size() && i < numbers.size(); ++i) {
      numbering[results[i]] = numbers[i];
    }
  }

  void NumberPlaced() {
    for (const NormalNode& node : placed_form_.nodes) {
      NodeKey key = KeyIn(node, of_placed_);
      NodeClass* same = Find(node, key);
      if (same == nullptr) same = &AddClass(node, std::move(key));
      same->live_placed += node.is_live;
      SetNumbers(node.results, same->results, of_placed_);
    }
  }

  void NumberBound() {
    for (const NormalNode& node : bound_form_.nodes) {
      if (!node.is_live) continue;
      CompareLayouts(node);
      const NodeKey key = KeyIn(node, of_bound_);
      NodeClass* same = Find(node, key);
      if (same == nullptr) {
        same = Nearest(node);
        ReportDifference(node, key.operands, same);
      }
      if (faults_.size() >= kMaxFaults) return;
      if (same == nullptr) continue;
      ++same->live_bound;
      SetNumbers(node.results, same->results, of_bound_);
    }
  }

  void CompareLayouts(const NormalNode& node) {
    const absl::Status status = CheckLayouts(node.op);
    if (status.ok()) return;
    Fault(absl::StrCat(NodeText(node), ": ", status.message()));
  }

  // The node of the placed graph that was probably changed into this one: of
  // the same op and name, or else the first of its op without a partner. Its
  // readers are then compared as if it were the same. Called once for each
  // fault.
  NodeClass* Nearest(const NormalNode& node) {
    NodeClass* first = nullptr;
    for (NodeClass& candidate : classes_) {
      const OpView& example = candidate.example->op;
      if (candidate.live_bound >= candidate.live_placed ||
          !example.is(node.op.op()) ||
          example.num_results() != node.op.num_results()) {
        continue;
      }
      const std::string& name = node.op.result(0).name();
      if (!name.empty() && example.result(0).name() == name) return &candidate;
      if (first == nullptr) first = &candidate;
    }
    return first;
  }

  void ReportDifference(const NormalNode& node,
                        const std::vector<ValueNumber>& operands,
                        const NodeClass* nearest) {
    if (nearest == nullptr) {
      return Fault(NodeText(node), "a node that the placed graph does not have",
                   "none");
    }
    const NormalNode& expected = *nearest->example;
    std::string difference = DifferenceOf(node, expected);
    for (size_t i = 0; difference.empty() && i < operands.size(); ++i) {
      if (operands[i] == nearest->key.operands[i]) continue;
      difference = absl::StrCat("another value as operand ", i);
    }
    if (difference.empty()) difference = "other elements";
    Fault(NodeText(node), difference,
          absl::StrCat("the same as of ", NodeText(expected), " on ",
                       absl::StrJoin(expected.placement.devices, ", ")));
  }

  // A constant may be packed in several layouts, and its row-major copy
  // dropped.
  void CompareCounts() {
    for (const NodeClass& nodes : classes_) {
      if (nodes.live_placed == nodes.live_bound ||
          nodes.example->op.is(kConstant)) {
        continue;
      }
      Fault(NodeText(*nodes.example),
            absl::StrCat(nodes.live_bound, " such nodes with kernels"),
            absl::StrCat(nodes.live_placed));
    }
  }

  void CompareOutputs() {
    if (placed_.outputs().size() != bound_.outputs().size()) {
      return Fault("outputs", absl::StrCat(bound_.outputs().size()),
                   absl::StrCat(placed_.outputs().size()));
    }
    for (size_t i = 0; i < placed_.outputs().size(); ++i) {
      const std::string& name = placed_.output_names()[i];
      const std::string where = absl::StrCat("output ", name);
      ComparePorts(where, placed_.outputs()[i], bound_.outputs()[i]);
      if (bound_.output_names()[i] != name) {
        Fault(where, bound_.output_names()[i], name);
      }
      CompareValues(where, placed_form_.outputs[i], bound_form_.outputs[i]);
    }
  }

  void CompareUpdates() {
    if (placed_.updates().size() != bound_.updates().size()) {
      return Fault("updates", absl::StrCat(bound_.updates().size()),
                   absl::StrCat(placed_.updates().size()));
    }
    for (size_t i = 0; i < placed_.updates().size(); ++i) {
      const VariableUpdate& before = placed_.updates()[i];
      const VariableUpdate& after = bound_.updates()[i];
      const std::string where = absl::StrCat("update of @", before.variable);
      if (before.variable != after.variable) {
        Fault(where, absl::StrCat("@", after.variable),
              absl::StrCat("@", before.variable));
      }
      ComparePorts(where, before.value, after.value);
      CompareValues(where, placed_form_.updates[i], bound_form_.updates[i]);
    }
  }

  void CompareValues(absl::string_view where, NormalValueId before,
                     NormalValueId after) {
    const ValueNumber found = of_bound_[after];
    if (found.valid() && found == of_placed_[before]) return;
    Fault(where, "another value", "that of the placed graph");
  }

  const Graph& placed_;
  const Graph& bound_;
  const NormalForm placed_form_;
  const NormalForm bound_form_;
  Numbering of_placed_;
  Numbering of_bound_;
  int next_ = 0;  // value number
  ConstantNumbers constants_;
  std::vector<NodeClass> classes_;  // of the placed graph
  absl::flat_hash_map<size_t, absl::InlinedVector<int, 1>> by_hash_;
  std::vector<std::string> faults_;
};

}  // namespace

absl::Status VerifyBinding(const Graph& placed, const Graph& bound) {
  return Verifier(placed, bound).Run();
}

}  // namespace partita
