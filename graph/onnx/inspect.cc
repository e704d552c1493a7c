// Walks graphs, functions and bodies once, with a worklist, since they may
// nest.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/inspect.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/declared_type.h"
#include "graph/onnx/functions.h"
#include "graph/onnx/graph_import.h"
#include "graph/onnx/graph_inputs.h"
#include "graph/onnx/model_file.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/op_check.h"
#include "graph/onnx/opsets.h"
#include "graph/onnx/replacements.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/onnx/weights.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

std::string DomainText(absl::string_view domain) {
  return std::string(IsStandardDomain(domain) ? "ai.onnx" : domain);
}

std::string OpText(const onnx::NodeProto& node) {
  const std::string op_type = OpTypeText(node);
  return IsStandardDomain(node.domain())
             ? op_type
             : absl::StrCat(node.domain(), ".", op_type);
}

std::string ElementText(int data_type) {
  const std::optional<DType> dtype = DTypeOfOnnx(data_type);
  if (dtype.has_value()) return std::string(DTypeName(*dtype));
  const auto type = static_cast<onnx::TensorProto::DataType>(data_type);
  const std::string name = onnx::TensorProto::DataType_Name(type);
  return name.empty() ? absl::StrCat("type ", data_type) : name;
}

std::string TypeText(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return "a sequence";
  if (type.has_map_type()) return "a map";
  if (type.has_optional_type()) return "an optional value";
  if (!type.has_tensor_type()) return "no tensor";
  const auto& tensor = type.tensor_type();
  const std::string element = ElementText(tensor.elem_type());
  if (!tensor.has_shape()) return absl::StrCat(element, " of any shape");
  return absl::StrCat(element, "[", ShapeText(tensor.shape()), "]");
}

template <typename Infos>
std::vector<ModelSummary::Port> PortsOf(const Infos& infos) {
  std::vector<ModelSummary::Port> ports;
  for (const auto& info : infos)
    ports.push_back({info.name(), TypeText(info.type())});
  return ports;
}

// Bytes of a tensor of this type; 0 if its size is unknown.
int64_t BytesOf(const onnx::TensorProto& tensor, int64_t elements) {
  const std::optional<DType> dtype = DTypeOfOnnx(tensor.data_type());
  return dtype.has_value() ? elements * BitsOf(*dtype) / 8 : 0;
}

// Saturates: extents are untrusted.
int64_t ElementsOf(const onnx::TensorProto& tensor) {
  constexpr int64_t kMost = int64_t{1} << 50;
  int64_t elements = 1;
  for (int64_t extent : tensor.dims()) {
    if (extent <= 0) return 0;
    if (elements > kMost / extent) return kMost;
    elements *= extent;
  }
  return elements;
}

// Ignores numbers that are no sizes.
void AddCapped(int64_t number, int64_t& sum) {
  constexpr int64_t kMost = int64_t{1} << 60;
  sum = std::min(kMost, sum + number);
}

class Inspector {
 public:
  explicit Inspector(const onnx::ModelProto& model)
      : model_(model), functions_(model) {}

  ModelSummary Run() && {
    AddOrigin();
    AddPorts();
    VisitGraph(model_.graph(), {nullptr, opset_, ""});
    for (const onnx::FunctionProto& function : model_.functions()) {
      VisitFunction(function);
    }
    while (!pending_.empty()) {
      const auto [graph, place] = std::move(pending_.back());
      pending_.pop_back();
      VisitGraph(*graph, place);
    }
    AddRecursion();
    AddOps();
    return std::move(summary_);
  }

 private:
  struct Place {
    const onnx::FunctionProto* function;  // null outside of functions
    int64_t opset;
    std::string text;  // " in then_branch of n"; empty for the graph
  };

  void AddFault(absl::string_view where, const absl::Status& status) {
    if (status.ok()) return;
    summary_.faults.push_back(absl::StrCat(where, status.message()));
  }

  void AddOrigin() {
    summary_.producer = model_.producer_name();
    if (!model_.producer_version().empty()) {
      absl::StrAppend(&summary_.producer, " ", model_.producer_version());
    }
    summary_.ir_version = model_.ir_version();
    summary_.functions = model_.functions_size();
    for (const auto& opset : model_.opset_import()) {
      summary_.opsets.push_back(
          absl::StrCat(DomainText(opset.domain()), " ", opset.version()));
      if (!IsStandardDomain(opset.domain())) continue;
      opset_ = opset.version();
    }
    AddFault("", StandardOpset(model_).status());
    AddFault("", functions_.CheckDefinedOnce());
  }

  void AddPorts() {
    for (const onnx::ValueInfoProto* input : InputsOf(model_.graph())) {
      summary_.inputs.push_back({input->name(), TypeText(input->type())});
      for (const std::string& name : OpenDimsOf(*input)) {
        if (absl::c_linear_search(summary_.open_dims, name)) continue;
        summary_.open_dims.push_back(name);
      }
    }
    summary_.outputs = PortsOf(model_.graph().output());
  }

  void VisitGraph(const onnx::GraphProto& graph, const Place& place) {
    AddFault(place.text.empty() ? "" : absl::StrCat(place.text.substr(1), ": "),
             CheckDense(graph));
    AddParameters(graph);
    Visit(graph.node(), place);
  }

  void VisitFunction(const onnx::FunctionProto& function) {
    const std::string name = FunctionName(function);
    const int64_t opset = OpsetOf(function, opset_);
    if (opset != opset_) {
      AddFault(absl::StrCat("function ", name, ": "), CheckOpset(opset));
    }
    Visit(function.node(),
          {&function, opset, absl::StrCat(" in the function ", name)});
  }

  void Visit(const Nodes& nodes, const Place& place) {
    const bool is_inside = !place.text.empty();
    (is_inside ? summary_.nodes_inside : summary_.nodes) += nodes.size();
    for (int i = 0; i < nodes.size(); ++i) {
      const onnx::NodeProto& node = nodes[i];
      const std::string name = NodeText(node, i);
      ModelSummary::Op& op = ops_[OpText(node)];
      ++op.count;
      op.inside += is_inside;
      CheckNode(node, name, place);
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) AddBody(attribute.g(), attribute, name, place);
        for (const onnx::GraphProto& graph : attribute.graphs()) {
          AddBody(graph, attribute, name, place);
        }
      }
    }
  }

  void AddBody(const onnx::GraphProto& graph,
               const onnx::AttributeProto& attribute, const std::string& node,
               const Place& place) {
    pending_.push_back(
        {&graph,
         {place.function, place.opset,
          absl::StrCat(" in ", attribute.name(), " of ", node)}});
  }

  void CheckNode(const onnx::NodeProto& node, const std::string& name,
                 const Place& place) {
    if (const onnx::FunctionProto* callee = functions_.Find(node)) {
      if (place.function != nullptr) callers_[callee].insert(place.function);
      return;
    }
    const int since =
        IsStandardDomain(node.domain()) ? SinceOpset(node.op_type()) : 0;
    const bool is_newer = since > place.opset && place.opset > 0;
    if (!is_newer && IsSupported(node)) return;
    const std::string op = OpText(node);
    const auto [it, is_first] =
        unsupported_.emplace(op, summary_.unsupported.size());
    if (is_first) {
      summary_.unsupported.push_back(
          {op, 0, absl::StrCat("node ", name, place.text),
           is_newer ? absl::StrCat("came with opset ", since) : "",
           is_newer ? "" : ReplacementOf(node.domain(), node.op_type())});
    }
    ++summary_.unsupported[it->second].count;
  }

  // Kahn (1962), from the functions that call no other: what is left calls
  // itself, or a function that does.
  void AddRecursion() {
    absl::flat_hash_map<const onnx::FunctionProto*, size_t> calls;
    for (const auto& [callee, callers] : callers_) {
      for (const onnx::FunctionProto* caller : callers) ++calls[caller];
    }
    std::vector<const onnx::FunctionProto*> resolved;
    for (const onnx::FunctionProto& function : model_.functions()) {
      if (!calls.contains(&function)) resolved.push_back(&function);
    }
    while (!resolved.empty()) {
      const onnx::FunctionProto* callee = resolved.back();
      resolved.pop_back();
      for (const onnx::FunctionProto* caller : callers_[callee]) {
        if (--calls[caller] == 0) resolved.push_back(caller);
      }
    }
    for (const onnx::FunctionProto& function : model_.functions()) {
      const auto left = calls.find(&function);
      if (left == calls.end() || left->second == 0) continue;
      summary_.faults.push_back(absl::StrCat(
          "function ", FunctionName(function),
          ": found a call of itself, or of one that calls itself; expected "
          "functions without recursion"));
    }
  }

  void AddParameters(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      const int64_t elements = ElementsOf(tensor);
      const int64_t bytes = BytesOf(tensor, elements);
      ++summary_.parameter_tensors;
      AddCapped(elements, summary_.parameters);
      AddCapped(bytes, summary_.bytes[ElementText(tensor.data_type())]);
      for (const auto& entry : tensor.external_data()) {
        if (entry.key() == "location") {
          AddCapped(bytes, summary_.external[entry.value()]);
        }
      }
    }
  }

  void AddOps() {
    for (auto& [name, op] : ops_) {
      op.name = name;
      summary_.ops.push_back(op);
    }
    absl::c_sort(summary_.ops, [](const auto& a, const auto& b) {
      return a.count != b.count ? a.count > b.count : a.name < b.name;
    });
  }

  const onnx::ModelProto& model_;
  ModelFunctions functions_;
  int64_t opset_ = 0;
  std::vector<std::pair<const onnx::GraphProto*, Place>> pending_;
  absl::flat_hash_map<const onnx::FunctionProto*,
                      absl::flat_hash_set<const onnx::FunctionProto*>>
      callers_;
  absl::flat_hash_map<std::string, ModelSummary::Op> ops_;
  absl::flat_hash_map<std::string, size_t> unsupported_;  // index in the list
  ModelSummary summary_;
};

}  // namespace

absl::StatusOr<ModelSummary> InspectOnnx(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  const auto model = ParseModelFile(std::move(file));
  if (!model.ok()) return AtFile(path, model.status());
  return Inspector((*model)->proto).Run();
}

}  // namespace partita
