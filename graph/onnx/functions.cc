// Reads fields newer than Debian's onnx.proto from the unknown ones.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/functions.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/unknown_field_set.h"
#include "graph/onnx/opsets.h"

namespace partita {
namespace {

// Numbers of fields newer than ONNX 1.12.
constexpr int kNodeOverload = 8;
constexpr int kFunctionDefaults = 11;  // attribute_proto
constexpr int kFunctionOverload = 13;

template <typename Visit>
void ForEachNewField(const google::protobuf::Message& message, int number,
                     Visit visit) {
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField& field = unknown.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      visit(field.length_delimited());
    }
  }
}

std::string NewText(const google::protobuf::Message& message, int number) {
  std::string text;
  ForEachNewField(message, number,
                  [&](const std::string& bytes) { text = bytes; });
  return text;
}

std::string KeyOf(absl::string_view domain, absl::string_view name,
                  absl::string_view overload) {
  const absl::string_view standard = "ai.onnx";
  return absl::StrCat(IsStandardDomain(domain) ? standard : domain,
                      absl::string_view("\0", 1), name,
                      absl::string_view("\0", 1), overload);
}

std::vector<onnx::AttributeProto> DefaultsOf(
    const onnx::FunctionProto& function) {
  std::vector<onnx::AttributeProto> defaults;
  ForEachNewField(function, kFunctionDefaults, [&](const std::string& bytes) {
    if (!defaults.emplace_back().ParseFromString(bytes)) defaults.pop_back();
  });
  return defaults;
}

void BindNode(const BoundAttributes& bound, onnx::NodeProto& node);

// False if the attribute refers to one that is not bound.
bool BindAttribute(const BoundAttributes& bound,
                   onnx::AttributeProto& attribute) {
  if (!attribute.ref_attr_name().empty()) {
    const auto it = bound.find(attribute.ref_attr_name());
    if (it == bound.end()) return false;
    const std::string name = attribute.name();
    attribute = it->second;
    attribute.set_name(name);
    return true;
  }
  if (attribute.has_g()) {
    for (auto& node : *attribute.mutable_g()->mutable_node()) {
      BindNode(bound, node);
    }
  }
  for (auto& graph : *attribute.mutable_graphs()) {
    for (auto& node : *graph.mutable_node()) BindNode(bound, node);
  }
  return true;
}

void BindNode(const BoundAttributes& bound, onnx::NodeProto& node) {
  onnx::NodeProto kept = node;
  kept.clear_attribute();
  for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (BindAttribute(bound, attribute)) {
      *kept.add_attribute() = std::move(attribute);
    }
  }
  node = std::move(kept);
}

}  // namespace

ModelFunctions::ModelFunctions(const onnx::ModelProto& model) {
  for (const onnx::FunctionProto& function : model.functions()) {
    const bool is_new =
        functions_
            .emplace(KeyOf(function.domain(), function.name(),
                           NewText(function, kFunctionOverload)),
                     &function)
            .second;
    if (!is_new && twice_ == nullptr) twice_ = &function;
  }
}

absl::Status ModelFunctions::CheckDefinedOnce() const {
  if (twice_ == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("function ", FunctionName(*twice_),
                   ": found a second definition; expected one"));
}

const onnx::FunctionProto* ModelFunctions::Find(
    const onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto it = functions_.find(
      KeyOf(node.domain(), node.op_type(), NewText(node, kNodeOverload)));
  return it == functions_.end() ? nullptr : it->second;
}

std::string FunctionName(const onnx::FunctionProto& function) {
  return function.domain().empty()
             ? function.name()
             : absl::StrCat(function.domain(), ".", function.name());
}

int64_t OpsetOf(const onnx::FunctionProto& function, int64_t otherwise) {
  for (const auto& opset : function.opset_import()) {
    if (IsStandardDomain(opset.domain())) return opset.version();
  }
  return otherwise;
}

absl::StatusOr<BoundAttributes> BindAttributes(
    const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  BoundAttributes bound;
  std::vector<std::string> names(function.attribute().begin(),
                                 function.attribute().end());
  for (onnx::AttributeProto& attribute : DefaultsOf(function)) {
    names.push_back(attribute.name());
    bound[names.back()] = std::move(attribute);
  }
  for (const onnx::AttributeProto& attribute : call.attribute()) {
    if (!absl::c_linear_search(names, attribute.name())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "found attribute ", attribute.name(), "; expected ",
          names.empty() ? "none"
                        : absl::StrCat("one of: ", absl::StrJoin(names, ", ")),
          ", as the function ", FunctionName(function), " has"));
    }
    bound[attribute.name()] = attribute;
  }
  return bound;
}

onnx::NodeProto BoundNode(const onnx::NodeProto& node,
                          const BoundAttributes& bound) {
  onnx::NodeProto copy = node;
  BindNode(bound, copy);
  return copy;
}

}  // namespace partita
