// Translates calls and branches in place, so it copies only nodes whose
// attributes a call binds.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/body_import.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/fault_list.h"
#include "graph/onnx/import_options.h"
#include "graph/onnx/node_attributes.h"
#include "graph/onnx/op_check.h"
#include "graph/onnx/opsets.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Exporters nest modules, some ten deep; each level takes some KiB of stack.
constexpr int kMaxDepth = 64;
// n functions that each call another twice make 2^n nodes. A file may expand to
// this many nodes for each of its own, and to some more if it is small.
constexpr int64_t kMaxExpansion = 1000;
constexpr int64_t kSmallExpansion = 10'000;

// With those inside of nodes, which a call copies too.
int64_t CountNodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  int64_t count = nodes.size();
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) count += CountNodes(attribute.g().node());
      for (const auto& graph : attribute.graphs()) {
        count += CountNodes(graph.node());
      }
    }
  }
  return count;
}

int64_t MaxExpanded(const onnx::ModelProto& model) {
  int64_t nodes = CountNodes(model.graph().node());
  for (const onnx::FunctionProto& function : model.functions()) {
    nodes += CountNodes(function.node());
  }
  return kSmallExpansion + kMaxExpansion * nodes;
}

bool ReadsLost(const onnx::NodeProto& node, const Scope& scope) {
  return absl::c_any_of(node.input(), [&](const std::string& input) {
    return scope.IsLost(input);
  });
}

const onnx::GraphProto* FindGraph(const onnx::NodeProto& node,
                                  absl::string_view name) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

absl::Status CheckOperands(const NodeImport& node, int required) {
  const bool every = required == kEvery;
  const int count = every ? std::max(1, node.num_inputs()) : required;
  for (int i = 0; i < count; ++i) {
    if (node.has_input(i)) continue;
    return node.Invalid(absl::StrCat("no input ", i),
                        every ? "one or more, and none left out"
                              : absl::StrCat("at least ", required));
  }
  return absl::OkStatus();
}

}  // namespace

BodyImporter::BodyImporter(const onnx::ModelProto& model, const Parts& parts)
    : functions_(model), parts_(parts), max_expanded_(MaxExpanded(model)) {}

absl::Status BodyImporter::CheckOps(const Nodes& nodes,
                                    const Scope& scope) const {
  PARTITA_RETURN_IF_ERROR(functions_.CheckDefinedOnce());
  const std::vector<std::string> faults =
      FindUnsupported(nodes, scope.opset(), functions_);
  if (faults.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "found ", faults.size(), faults.size() == 1 ? " node" : " nodes",
      " whose op is not supported:\n  ", JoinedFaults(faults)));
}

absl::Status BodyImporter::AddNodes(const Nodes& nodes, Scope& scope) {
  Gather(nodes, scope);
  if (faults_.size() < 2) return first_;
  return ReplaceMessage(
      first_, absl::StrCat("found ", faults_.size(), " faulty nodes:\n  ",
                           JoinedFaults(faults_)));
}

// Skips nodes that read a value of a refused node: their own error, if any, is
// unknown.
void BodyImporter::Gather(const Nodes& nodes, Scope& scope) {
  for (const onnx::NodeProto& node : nodes) {
    if (!ReadsLost(node, scope)) {
      const absl::Status status = AddNode(node, scope);
      if (status.ok()) continue;
      first_.Update(status);
      faults_.push_back(std::string(status.message()));
    }
    for (const std::string& output : node.output()) scope.Lose(output);
  }
}

absl::Status BodyImporter::AddNode(const onnx::NodeProto& proto, Scope& scope) {
  if (parts_.trains && parts_.weights.IsOtherRole(proto, scope)) {
    return parts_.weights.DefineOtherRole(proto, scope);
  }
  NodeImport node(proto, scope, parts_.graph, parts_.known, parts_.files);
  for (const std::string& input : proto.input()) {
    if (input.empty() || scope.Find(input).has_value() ||
        scope.IsLeftOut(input)) {
      continue;
    }
    return node.Invalid(
        absl::StrCat("input ", input, ", which no earlier ", "node gives"),
        "nodes in topological order without a cycle");
  }
  if (proto.output_size() == 0) return node.Invalid("no output", "one");
  for (const std::string& output : proto.output()) {
    if (output.empty() || !scope.Defines(output)) continue;
    return node.Invalid(absl::StrCat("a second definition of ", output),
                        "each value defined once");
  }
  const onnx::FunctionProto* function = functions_.Find(proto);
  if (function != nullptr) return AddCall(*function, node, scope);
  return proto.op_type() == "If" ? AddIf(node, scope) : Convert(node);
}

absl::Status BodyImporter::Convert(NodeImport& node) {
  const ConverterRow& row = *FindConverter(node.op_type());
  PARTITA_RETURN_IF_ERROR(CheckOperands(node, row.required_inputs));
  if (row.outputs != kAnyNumber && node.num_outputs() > row.outputs) {
    return node.Invalid(absl::StrCat(node.num_outputs(), " outputs"),
                        absl::StrCat("at most ", row.outputs));
  }
  PARTITA_RETURN_IF_ERROR(CheckAttributes(node, row));
  PARTITA_RETURN_IF_ERROR(row.convert(node));
  return CheckAttributesRead(node, row);
}

absl::Status BodyImporter::Enter(const NodeImport& node) {
  if (depth_ < kMaxDepth) return absl::OkStatus();
  return node.Unsupported(absl::StrCat("bodies nested deeper than ", kMaxDepth),
                          "fewer levels; inline some of the model's functions");
}

absl::Status BodyImporter::AddCall(const onnx::FunctionProto& function,
                                   NodeImport& call, Scope& scope) {
  PARTITA_RETURN_IF_ERROR(Enter(call));
  if (absl::c_linear_search(calls_, &function)) {
    return call.Invalid(
        absl::StrCat("a call of ", FunctionName(function), " inside itself"),
        "functions without recursion");
  }
  const int64_t opset = OpsetOf(function, scope.opset());
  if (!CheckOpset(opset).ok()) {
    return call.Unsupported(
        absl::StrCat("a function of opset ", opset),
        absl::StrCat(kOldestOpset, "..", kNewestOpset, "; convert the model"));
  }
  Scope inner(static_cast<int>(opset), absl::StrCat(call.name(), "/"));
  calls_.push_back(&function);
  ++depth_;
  const absl::Status status = GatherCall(function, call, inner);
  --depth_;
  calls_.pop_back();
  PARTITA_RETURN_IF_ERROR(status);
  for (int i = 0; i < call.num_outputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(SetFrom(inner, function.output(i), i, call, scope));
  }
  return absl::OkStatus();
}

absl::Status BodyImporter::GatherCall(const onnx::FunctionProto& function,
                                      NodeImport& call, Scope& inner) {
  const std::string name = FunctionName(function);
  if (call.num_inputs() > function.input_size() ||
      call.num_outputs() > function.output_size()) {
    return call.Invalid(absl::StrCat(call.num_inputs(), " inputs and ",
                                     call.num_outputs(), " outputs"),
                        absl::StrCat("at most ", function.input_size(), " and ",
                                     function.output_size(),
                                     ", as the function ", name, " has"));
  }
  for (int i = 0; i < function.input_size(); ++i) {
    if (!call.has_input(i)) {
      inner.LeaveOut(function.input(i));
    } else if (!inner.Define(function.input(i), call.input(i))) {
      return call.Invalid(absl::StrCat("input ", function.input(i),
                                       " twice in the function ", name),
                          "each once");
    }
  }
  expanded_ += CountNodes(function.node());
  if (expanded_ > max_expanded_) {
    return call.Unsupported(
        absl::StrCat("functions that become more than ", max_expanded_,
                     " nodes"),
        absl::StrCat("at most ", kMaxExpansion, " for each of the file"));
  }
  const auto bound = BindAttributes(function, call.node());
  if (!bound.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(call.Where(), ": ", bound.status().message()));
  }
  Nodes nodes;
  for (const onnx::NodeProto& node : function.node()) {
    *nodes.Add() = BoundNode(node, *bound);
  }
  Gather(nodes, inner);
  return absl::OkStatus();
}

// A lost value has an error inside the body, which is reported already.
absl::Status BodyImporter::SetFrom(const Scope& inner, const std::string& name,
                                   int output, NodeImport& node, Scope& scope) {
  const std::optional<ValueId> value = inner.Find(name);
  if (value.has_value()) return node.Set(output, *value);
  if (inner.IsLost(name)) {
    scope.Lose(node.node().output(output));
    return absl::OkStatus();
  }
  return node.Invalid(
      absl::StrCat("a body that gives no ", name, ", its output ", output),
      "a node for each output");
}

absl::Status BodyImporter::AddIf(NodeImport& node, Scope& scope) {
  PARTITA_RETURN_IF_ERROR(Enter(node));
  PARTITA_RETURN_IF_ERROR(CheckOperands(node, 1));
  const onnx::GraphProto* branches[] = {FindGraph(node.node(), "else_branch"),
                                        FindGraph(node.node(), "then_branch")};
  if (branches[0] == nullptr || branches[1] == nullptr) {
    return node.Invalid("no then_branch or no else_branch", "both");
  }
  const absl::StatusOr<const HostTensor*> condition =
      node.Constant(0, "the condition");
  if (!condition.ok()) {
    return ReplaceMessage(
        condition.status(),
        absl::StrCat(condition.status().message(), "; its then_branch has ",
                     BodyText(*branches[1]), "; its else_branch has ",
                     BodyText(*branches[0])));
  }
  const TensorType& type = (*condition)->type();
  if (type.dtype != DType::kBool || type.num_elements() != 1) {
    return node.Invalid(absl::StrCat("a condition ", type.ToString()),
                        "one bool");
  }
  return AddBranch(*branches[GetAsDouble(**condition, 0) != 0], node, scope);
}

absl::Status BodyImporter::AddBranch(const onnx::GraphProto& branch,
                                     NodeImport& node, Scope& scope) {
  if (branch.output_size() < node.num_outputs()) {
    return node.Invalid(
        absl::StrCat(node.num_outputs(), " outputs of a branch that has ",
                     branch.output_size()),
        "at most as many");
  }
  Scope inner(&scope, absl::StrCat(node.name(), "/"));
  PARTITA_RETURN_IF_ERROR(CheckOps(branch.node(), inner));
  PARTITA_RETURN_IF_ERROR(parts_.weights.AddInitializers(branch, inner));
  ++depth_;
  Gather(branch.node(), inner);
  --depth_;
  for (int i = 0; i < node.num_outputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        SetFrom(inner, branch.output(i).name(), i, node, scope));
  }
  return absl::OkStatus();
}

}  // namespace partita
