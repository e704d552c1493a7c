// Translates a graph node by node, and collects all errors.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/graph_import.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/onnx/body_import.h"
#include "graph/onnx/declared_type.h"
#include "graph/onnx/fault_list.h"
#include "graph/onnx/graph_inputs.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/op_check.h"
#include "graph/onnx/scope.h"
#include "graph/onnx/weight_files.h"
#include "graph/onnx/weights.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

class GraphImporter {
 public:
  GraphImporter(const ModelFile& model, const ImportOptions& options)
      : proto_(model.proto.graph()),
        givers_(GiversIn(proto_)),
        options_(options),
        files_(model.file),
        graph_(module_.AddFunction(options.function)),
        known_(graph_),
        weights_(proto_, module_, files_),
        scope_(model.opset),
        body_(model.proto, {graph_, known_, files_, weights_,
                            options.weights_as_variables}) {}

  absl::StatusOr<Module> Run() && {
    PARTITA_RETURN_IF_ERROR(body_.CheckOps(proto_.node(), scope_));
    PARTITA_RETURN_IF_ERROR(weights_.AddInitializers(proto_, scope_));
    PARTITA_RETURN_IF_ERROR(AddInputs());
    PARTITA_RETURN_IF_ERROR(
        BlamedOnExtents(body_.AddNodes(proto_.node(), scope_)));
    PARTITA_RETURN_IF_ERROR(SetOutputs());
    PARTITA_RETURN_IF_ERROR(CheckDeclarations());
    if (options_.weights_as_variables) weights_.MakeVariables();
    return std::move(module_);
  }

 private:
  absl::Status AddInputs() {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<GraphInput> inputs,
                             ReadGraphInputs(proto_, options_));
    for (const GraphInput& input : inputs) {
      const ValueId value = input.values == nullptr
                                ? graph_.AddInput(input.name, input.type)
                                : AddBound(input);
      PARTITA_RETURN_IF_ERROR(DefineOnce(input.name, value, scope_));
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

  // If the caller gave the extents, they may be at fault instead of the node.
  absl::Status BlamedOnExtents(const absl::Status& status) const {
    const bool given = !options_.dims.empty() || !options_.shapes.empty();
    if (!given || !IsOfExtents(status)) return status;
    return WithRemedyOption(ImportOption::kGivenExtents, status);
  }

  absl::Status SetOutputs() {
    std::vector<ValueId> outputs;
    std::vector<std::string> names;
    absl::flat_hash_set<std::string> seen;
    for (const onnx::ValueInfoProto& output : proto_.output()) {
      const std::optional<ValueId> value = scope_.Find(output.name());
      if (!value.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat("output ", output.name(),
                         ": found no node that gives it; expected one"));
      }
      const TensorType& type = graph_.type(*value);
      const std::string what = WhatOf("output", output.name());
      PARTITA_RETURN_IF_ERROR(CheckDeclaredExtents(output, what));
      PARTITA_RETURN_IF_ERROR(CheckDeclaredDType(output, type, what));
      if (!seen.insert(output.name()).second) {
        return absl::InvalidArgumentError(absl::StrCat(
            what, ": found a second output of this name; expected one"));
      }
      outputs.push_back(*value);
      names.push_back(output.name());
    }
    graph_.SetOutputs(std::move(outputs), std::move(names));
    return absl::OkStatus();
  }

  // Declarations may be stale: the nodes alone decide what is computed.
  absl::Status CheckDeclarations() const {
    std::vector<std::string> stale;
    AddStale("output", proto_.output(), stale);
    AddStale("value", proto_.value_info(), stale);
    if (stale.empty()) return absl::OkStatus();
    const std::string faults = JoinedFaults(stale);
    if (options_.strict_types) {
      return WithRemedyOption(
          ImportOption::kStrictTypes,
          absl::InvalidArgumentError(
              absl::StrCat(faults, "; fix the declaration or the node")));
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
      const std::optional<ValueId> value = scope_.Find(declared.name());
      if (!value.has_value()) continue;
      const TensorType& type = graph_.type(*value);
      if (IsDeclaredAs(declared, type)) continue;
      stale.push_back(absl::StrCat(WhatOf(kind, declared.name()), ": found ",
                                   FoundAndDeclared(type, declared)));
    }
  }

  // "output y (node act)"
  std::string WhatOf(absl::string_view kind, const std::string& value) const {
    const auto it = givers_.find(value);
    return it == givers_.end() ? absl::StrCat(kind, " ", value)
                               : absl::StrCat(kind, " ", value, " (node ",
                                              NodeName(*it->second), ")");
  }

  static absl::flat_hash_map<absl::string_view, const onnx::NodeProto*>
  GiversIn(const onnx::GraphProto& graph) {
    absl::flat_hash_map<absl::string_view, const onnx::NodeProto*> givers;
    for (const onnx::NodeProto& node : graph.node()) {
      for (const std::string& output : node.output()) {
        givers.emplace(output, &node);
      }
    }
    return givers;
  }

  const onnx::GraphProto& proto_;
  // The node that computes each value.
  const absl::flat_hash_map<absl::string_view, const onnx::NodeProto*> givers_;
  const ImportOptions& options_;
  WeightFiles files_;
  Module module_;
  Graph& graph_;
  KnownValues known_;
  Weights weights_;
  Scope scope_;
  BodyImporter body_;
};

}  // namespace

absl::StatusOr<Module> ImportGraph(const ModelFile& model,
                                   const ImportOptions& options) {
  return GraphImporter(model, options).Run();
}

}  // namespace partita
