// Translates a graph node by node, gathering every fault on the way.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/graph_import.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/onnx/declared_type.h"
#include "graph/onnx/fault_list.h"
#include "graph/onnx/graph_inputs.h"
#include "graph/onnx/node_attributes.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/opsets.h"
#include "graph/onnx/weight_files.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

class GraphImporter {
 public:
  GraphImporter(const ModelFile& model, const ImportOptions& options)
      : proto_(model.proto.graph()),
        opset_(model.opset),
        options_(options),
        weights_(model.file),
        graph_(module_.AddFunction(options.function)),
        known_(graph_) {}

  absl::StatusOr<Module> Run() && {
    PARTITA_RETURN_IF_ERROR(CheckOps());
    FindReaders();
    PARTITA_RETURN_IF_ERROR(AddInitializers());
    PARTITA_RETURN_IF_ERROR(AddInputs());
    PARTITA_RETURN_IF_ERROR(AddNodes());
    PARTITA_RETURN_IF_ERROR(SetOutputs());
    PARTITA_RETURN_IF_ERROR(CheckDeclarations());
    if (options_.weights_as_variables) MakeVariables();
    return std::move(module_);
  }

 private:
  // Ops without a converter, all at once, before anything else is reported.
  absl::Status CheckOps() const {
    std::vector<std::string> faults;
    for (const auto& node : proto_.node()) {
      std::string fault = OpFault(node);
      if (!fault.empty()) faults.push_back(std::move(fault));
    }
    if (faults.empty()) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat(
        "found ", faults.size(), faults.size() == 1 ? " node" : " nodes",
        " whose op is not supported:\n  ", JoinedFaults(faults)));
  }

  // Empty if the op is supported and in the model's opset.
  std::string OpFault(const onnx::NodeProto& node) const {
    const std::string where = absl::StrCat(" (node ", NameOf(node), ")");
    if (!IsStandardDomain(node.domain())) {
      return absl::StrCat(node.op_type(), " of domain ", node.domain(), where);
    }
    const int since = SinceOpset(node.op_type());
    if (since > opset_) {
      return absl::StrCat(node.op_type(), where, ", which came with opset ",
                          since, ", in a model of opset ", opset_);
    }
    return FindConverter(node.op_type()) != nullptr
               ? ""
               : absl::StrCat(node.op_type(), where);
  }

  static std::string NameOf(const onnx::NodeProto& node) {
    return node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                         : node.name();
  }

  absl::Status AddInitializers() {
    if (proto_.sparse_initializer_size() > 0) {
      return absl::UnimplementedError(
          "found sparse initializers; expected dense ones");
    }
    for (const onnx::TensorProto& tensor : proto_.initializer()) {
      PARTITA_ASSIGN_OR_RETURN(const LiteralId literal,
                               weights_.Add(tensor, module_.literals()));
      PARTITA_RETURN_IF_ERROR(DefineWeight(tensor.name(), literal));
    }
    return absl::OkStatus();
  }

  absl::Status DefineWeight(const std::string& name, LiteralId literal) {
    weight_names_.push_back(name);
    return Define(name, graph_.AddConstant(literal, name));
  }

  // What reads each name directly, Identity aside.
  void FindReaders() {
    for (const onnx::NodeProto& node : proto_.node()) {
      if (node.op_type() == "Identity") continue;
      const bool is_norm = node.op_type() == "BatchNormalization";
      for (int i = 0; i < node.input_size(); ++i) {
        (is_norm && i >= 3 ? statistics_ : others_).insert(node.input(i));
      }
    }
  }

  // One initializer is one variable, through any number of Identity nodes. But
  // exporters keep one of several initializers of the same values, as an
  // untrained batch norm's scale and running variance: a running statistic is
  // apart from all else.
  bool IsOtherRole(const onnx::NodeProto& node) const {
    if (!options_.weights_as_variables || node.op_type() != "Identity" ||
        node.input_size() != 1 || node.output_size() != 1) {
      return false;
    }
    const auto read = values_.find(node.input(0));
    if (read == values_.end()) return false;
    const std::string& weight = graph_.value(read->second).name;
    if (!absl::c_linear_search(weight_names_, weight)) return false;
    return statistics_.contains(node.output(0)) ||
           (statistics_.contains(weight) && others_.contains(node.output(0)));
  }

  // Those that are no statistics are one variable still.
  absl::Status DefineOtherRole(const onnx::NodeProto& node) {
    const ValueId weight = values_.at(node.input(0));
    const std::string& name = node.output(0);
    const auto trained = trained_.find(weight);
    if (!statistics_.contains(name) && trained != trained_.end()) {
      return Define(name, trained->second);
    }
    PARTITA_RETURN_IF_ERROR(DefineWeight(
        name,
        graph_.view(graph_.value(weight).defining_node).attr_literal("value")));
    if (!statistics_.contains(name)) trained_[weight] = values_.at(name);
    return absl::OkStatus();
  }

  absl::Status Define(const std::string& name, ValueId value) {
    if (!name.empty() && values_.emplace(name, value).second) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("value ", name.empty() ? "(unnamed)" : name,
                     ": found a second definition; expected one"));
  }

  absl::Status AddInputs() {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<GraphInput> inputs,
                             ReadGraphInputs(proto_, options_));
    for (const GraphInput& input : inputs) {
      PARTITA_RETURN_IF_ERROR(
          Define(input.name, input.values == nullptr
                                 ? graph_.AddInput(input.name, input.type)
                                 : AddBound(input)));
    }
    return absl::OkStatus();
  }

  ValueId AddBound(const GraphInput& input) {
    HostTensor tensor(input.type);
    for (int64_t i = 0; i < input.type.num_elements(); ++i) {
      SetNumber(tensor, i, (*input.values)[i]);
    }
    return graph_.AddConstant(module_.literals().Add(std::move(tensor)),
                              input.name);
  }

  // Nodes that read a value which a refused node would have given are skipped:
  // their own fault, if any, cannot be told.
  absl::Status AddNodes() {
    std::vector<std::string> faults;
    absl::Status first;
    absl::flat_hash_set<std::string> lost;
    for (const onnx::NodeProto& node : proto_.node()) {
      if (!ReadsAny(node, lost)) {
        const absl::Status status = AddNode(node);
        if (status.ok()) continue;
        first.Update(status);
        faults.push_back(std::string(status.message()));
      }
      for (const std::string& output : node.output()) lost.insert(output);
    }
    if (faults.size() > 1) {
      first = Reworded(
          first, absl::StrCat("found ", faults.size(), " faulty nodes:\n  ",
                              JoinedFaults(faults)));
    }
    return BlamedOnExtents(first);
  }

  // A node is seldom at fault where it is the caller who gave the extents.
  absl::Status BlamedOnExtents(const absl::Status& status) const {
    const bool given = !options_.dims.empty() || !options_.shapes.empty();
    if (!given || !absl::IsInvalidArgument(status) ||
        MendingOption(status).has_value()) {
      return status;
    }
    return MendedBy(ImportOption::kGivenExtents, status);
  }

  static bool ReadsAny(const onnx::NodeProto& node,
                       const absl::flat_hash_set<std::string>& lost) {
    for (const std::string& input : node.input()) {
      if (lost.contains(input)) return true;
    }
    return false;
  }

  absl::Status AddNode(const onnx::NodeProto& proto) {
    if (IsOtherRole(proto)) return DefineOtherRole(proto);
    NodeImport node(proto, opset_, graph_, known_, values_, weights_);
    for (const std::string& input : proto.input()) {
      if (input.empty() || values_.contains(input)) continue;
      return node.Invalid(
          absl::StrCat("input ", input, ", which no earlier ", "node gives"),
          "nodes in topological order without a cycle");
    }
    if (proto.output_size() == 0) return node.Invalid("no output", "one");
    const ConverterRow& row = *FindConverter(proto.op_type());
    PARTITA_RETURN_IF_ERROR(CheckOperands(node, row.required_inputs));
    if (row.outputs != kAnyNumber && proto.output_size() > row.outputs) {
      return node.Invalid(absl::StrCat(proto.output_size(), " outputs"),
                          absl::StrCat("at most ", row.outputs));
    }
    PARTITA_RETURN_IF_ERROR(CheckAttributes(node, row));
    PARTITA_RETURN_IF_ERROR(row.convert(node));
    return CheckAttributesRead(node, row);
  }

  static absl::Status CheckOperands(const NodeImport& node, int required) {
    for (int i = 0; i < required; ++i) {
      if (node.has_input(i)) continue;
      return node.Invalid(absl::StrCat("no input ", i),
                          absl::StrCat("at least ", required));
    }
    return absl::OkStatus();
  }

  absl::Status SetOutputs() {
    std::vector<ValueId> outputs;
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto& output : proto_.output()) {
      auto it = values_.find(output.name());
      if (it == values_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("output ", output.name(),
                         ": found no node that gives it; expected one"));
      }
      const TensorType& type = graph_.type(it->second);
      const std::string what = WhatOf("output", output.name());
      PARTITA_RETURN_IF_ERROR(CheckDeclaredExtents(output, what));
      PARTITA_RETURN_IF_ERROR(CheckDeclaredDType(output, type, what));
      outputs.push_back(it->second);
      names.push_back(output.name());
    }
    graph_.SetOutputs(std::move(outputs), std::move(names));
    return absl::OkStatus();
  }

  // What nobody reads may be stale: nodes alone say what is computed.
  absl::Status CheckDeclarations() const {
    std::vector<std::string> stale;
    AddStale("output", proto_.output(), stale);
    AddStale("value", proto_.value_info(), stale);
    if (stale.empty()) return absl::OkStatus();
    const std::string faults = JoinedFaults(stale);
    if (options_.strict_types) {
      return MendedBy(ImportOption::kStrictTypes,
                      absl::InvalidArgumentError(absl::StrCat(
                          faults, "; mend the declaration or the node")));
    }
    if (options_.warn != nullptr) {
      options_.warn(
          absl::StrCat(faults, "; goes on with what the nodes compute"));
    }
    return absl::OkStatus();
  }

  template <typename Declarations>
  void AddStale(absl::string_view kind, const Declarations& declarations,
                std::vector<std::string>& stale) const {
    for (const onnx::ValueInfoProto& declared : declarations) {
      const auto it = values_.find(declared.name());
      if (it == values_.end()) continue;
      const TensorType& type = graph_.type(it->second);
      if (IsDeclaredAs(declared, type)) continue;
      // Where of those that are shown: each is looked for among all nodes.
      stale.push_back(absl::StrCat(
          stale.size() < kMaxShownFaults ? WhatOf(kind, declared.name())
                                         : declared.name(),
          ": found ", FoundAndDeclared(type, declared)));
    }
  }

  // After all nodes: converters may need to know a weight's values.
  void MakeVariables() {
    for (const std::string& name : weight_names_) {
      const ValueId constant = values_.at(name);
      const TensorType& type = graph_.type(constant);
      const bool is_weight = IsFloat(type.dtype) && type.rank() > 0 &&
                             !graph_.value(constant).uses.empty();
      if (is_weight) MakeVariable(name, constant);
    }
  }

  void MakeVariable(const std::string& name, ValueId constant) {
    const TensorType type = graph_.type(constant);
    const NodeId node = graph_.value(constant).defining_node;
    module_.AddVariable({name, type, graph_.view(node).attr_literal("value"),
                         /*trainable=*/!IsStatistic(constant)});
    NodeSpec read{
        .op = &kVariable,
        .attributes = {{"name", name},
                       {"dtype", type.dtype},
                       {"shape", std::vector<int64_t>(type.dims.begin(),
                                                      type.dims.end())}},
        .result_names = {name}};
    graph_.ReplaceAllUses(constant, *graph_.AddValue(std::move(read), node));
    graph_.Erase(node);
  }

  bool IsStatistic(ValueId value) const {
    return absl::c_any_of(graph_.value(value).uses, [&](const Use& use) {
      return graph_.node(use.node).op == &kBatchNorm && use.operand >= 3;
    });
  }

  // "output y (node act)"
  std::string WhatOf(absl::string_view kind, const std::string& value) const {
    for (const onnx::NodeProto& node : proto_.node()) {
      if (absl::c_linear_search(node.output(), value)) {
        return absl::StrCat(kind, " ", value, " (node ", NameOf(node), ")");
      }
    }
    return absl::StrCat(kind, " ", value);
  }

  const onnx::GraphProto& proto_;
  int opset_;
  const ImportOptions& options_;
  WeightFiles weights_;
  Module module_;
  Graph& graph_;
  KnownValues known_;
  absl::flat_hash_map<std::string, ValueId> values_;  // by ONNX name
  std::vector<std::string> weight_names_;  // of constants, initializers first
  absl::flat_hash_set<std::string> statistics_;    // read as such
  absl::flat_hash_set<std::string> others_;        // read in another way
  absl::flat_hash_map<ValueId, ValueId> trained_;  // beside a statistic
};

}  // namespace

absl::StatusOr<Module> ImportGraph(const ModelFile& model,
                                   const ImportOptions& options) {
  return GraphImporter(model, options).Run();
}

}  // namespace partita
