// Writes nodes, their attributes and constants.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/node_export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/export/model_draft.h"
#include "graph/onnx/export/operand_types.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

onnx::AttributeProto& AddAttribute(onnx::NodeProto& node,
                                   absl::string_view name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(std::string(name));
  attribute.set_type(type);
  return attribute;
}

// Inverse of the importer's scope from a node's name.
absl::string_view ScopeIn(absl::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == absl::string_view::npos ? "" : name.substr(0, slash);
}

}  // namespace

std::string OnnxNode::output() const { return node_->output(0); }

OnnxNode& OnnxNode::Int(absl::string_view name, int64_t value) {
  AddAttribute(*node_, name, onnx::AttributeProto::INT).set_i(value);
  return *this;
}

OnnxNode& OnnxNode::Float(absl::string_view name, double value) {
  AddAttribute(*node_, name, onnx::AttributeProto::FLOAT)
      .set_f(static_cast<float>(value));
  return *this;
}

OnnxNode& OnnxNode::String(absl::string_view name, absl::string_view value) {
  AddAttribute(*node_, name, onnx::AttributeProto::STRING)
      .set_s(std::string(value));
  return *this;
}

OnnxNode& OnnxNode::Ints(absl::string_view name,
                         absl::Span<const int64_t> values) {
  onnx::AttributeProto& attribute =
      AddAttribute(*node_, name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
  return *this;
}

OnnxNode& OnnxNode::Tensor(absl::string_view name, const HostTensor& value) {
  onnx::TensorProto& proto =
      *AddAttribute(*node_, name, onnx::AttributeProto::TENSOR).mutable_t();
  SetType(value.type(), proto);
  proto.set_raw_data(value.bytes(), value.byte_span().size());
  return *this;
}

NodeExport::NodeExport(const OpView& op, const ExportRow& row,
                       const absl::flat_hash_map<ValueId, std::string>& names,
                       ModelDraft& draft)
    : op_(op), row_(row), names_(names), draft_(draft) {
  for (int i = 0; i < op.num_operands(); ++i) dtypes_[operand(i)] = dtype(i);
}

const std::string& NodeExport::operand(int i) const {
  return names_.at(op_.operand(i).id());
}

NodeExport::Names NodeExport::operands() const {
  Names names;
  for (int i = 0; i < op_.num_operands(); ++i) names.push_back(operand(i));
  return names;
}

OnnxNode NodeExport::Give(const Names& inputs) {
  OnnxNode node = Give(row_.op_type, inputs);
  for (const CopiedAttribute& attribute : row_.attributes) {
    if (attribute.onnx_name != nullptr) Copy(attribute, node);
  }
  return node;
}

OnnxNode NodeExport::Give(absl::string_view op_type, const Names& inputs) {
  Names outputs;
  for (int i = 0; i < op_.num_results(); ++i) {
    outputs.push_back(names_.at(op_.result(i).id()));
  }
  return Add(NodeName(), op_type, inputs, outputs);
}

OnnxNode NodeExport::Step(absl::string_view op_type, const Names& inputs,
                          std::optional<DType> result_dtype) {
  const std::string& result = names_.at(op_.result(0).id());
  const std::string output = draft_.NewName(absl::StrCat(result, ".", op_type));
  dtypes_[output] = result_dtype.value_or(dtypes_.at(inputs[0]));
  return Add(absl::StrCat(NodeName(), ".", op_type), op_type, inputs, {output});
}

OnnxNode NodeExport::Add(absl::string_view name, absl::string_view op_type,
                         const Names& inputs, const Names& outputs) {
  CheckTypes(op_type, inputs);
  onnx::NodeProto& node = draft_.AddNode(name, op_type, inputs, outputs);
  const std::string& location = op_.node().location;
  if (location != name) node.set_doc_string(location);
  return OnnxNode(&node);
}

// The name of an ONNX node, or the line of code that made it. A line of code is
// no name: then it is the result's, in its scope.
std::string NodeExport::NodeName() const {
  const Node& node = op_.node();
  if (!node.location.empty() && ScopeIn(node.location) == node.scope) {
    return node.location;
  }
  const std::string& result = names_.at(op_.result(0).id());
  return node.scope.empty() ? result : absl::StrCat(node.scope, "/", result);
}

void NodeExport::CheckTypes(absl::string_view op_type, const Names& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto found = dtypes_.find(inputs[i]);
    const int input = static_cast<int>(i);
    if (found == dtypes_.end() || OnnxTakes(op_type, input, found->second)) {
      continue;
    }
    fault_.Update(Unsupported(absl::StrCat(DTypeName(found->second),
                                           " for input ", i, " of ", op_type),
                              TakenText(op_type, input)));
  }
}

void NodeExport::Copy(const CopiedAttribute& attribute, OnnxNode& node) const {
  const char* const onnx_name = attribute.onnx_name;
  const char* const name =
      attribute.name != nullptr ? attribute.name : onnx_name;
  switch (FindAttr(op_.op(), name)->kind) {
    case AttributeKind::kFloat:
      return CopyFloat(node, onnx_name, name);
    case AttributeKind::kBool:
      node.Int(onnx_name, op_.attr_bool(name));
      return;
    case AttributeKind::kString:
      node.String(onnx_name, op_.attr_string(name));
      return;
    case AttributeKind::kInts:
      node.Ints(onnx_name, op_.attr_ints(name));
      return;
    default:
      node.Int(onnx_name, op_.attr_int(name));
  }
}

void NodeExport::CopyFloat(OnnxNode& node, absl::string_view onnx_name,
                           absl::string_view name) const {
  if (op_.node().attributes.Find(name) == nullptr) return;
  node.Float(onnx_name, op_.attr_float(name));
}

std::string NodeExport::Ints(absl::string_view what,
                             const std::vector<int64_t>& values) {
  return Constant(what, HostTensor::Of<int64_t>(
                            {static_cast<int64_t>(values.size())}, values));
}

std::string NodeExport::Int(absl::string_view what, int64_t value) {
  return Scalar(what, DType::kI64, Number(value));
}

std::string NodeExport::Scalar(absl::string_view what, DType dtype,
                               const Number& value) {
  HostTensor tensor(TensorType{dtype, {}, {}});
  SetNumber(tensor, 0, value);
  return Constant(what, std::move(tensor));
}

std::string NodeExport::Constant(absl::string_view what, HostTensor tensor) {
  std::string name =
      draft_.NewName(absl::StrCat(names_.at(op_.result(0).id()), ".", what));
  dtypes_[name] = tensor.type().dtype;
  draft_.AddInitializer(name, std::move(tensor));
  return name;
}

absl::Status NodeExport::Unsupported(absl::string_view found,
                                     absl::string_view expected) const {
  return absl::UnimplementedError(
      absl::StrCat(op_.ToString(), ": found ", found, "; expected ", expected));
}

absl::Status ExportAlike(NodeExport& node) {
  node.Give(node.operands());
  return absl::OkStatus();
}

}  // namespace partita
