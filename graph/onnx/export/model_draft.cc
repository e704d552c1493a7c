// Adds to a model.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/model_draft.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/tensor_proto.h"

namespace partita {
namespace {

std::string TakeFree(absl::string_view wanted,
                     absl::flat_hash_set<std::string>& taken) {
  std::string name(wanted);
  for (int suffix = 1; !taken.insert(name).second; ++suffix) {
    name = absl::StrCat(wanted, "_", suffix);
  }
  return name;
}

void Describe(const std::string& name, const TensorType& type,
              onnx::ValueInfoProto& info) {
  info.set_name(name);
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(OnnxOfDType(type.dtype));
  tensor.mutable_shape();  // a scalar's shape has no dimensions, but must exist
  for (const int64_t extent : type.dims) {
    tensor.mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

}  // namespace

bool ModelDraft::TakeName(const std::string& name) {
  return values_.insert(name).second;
}

std::string ModelDraft::NewName(absl::string_view wanted) {
  return TakeFree(wanted, values_);
}

void ModelDraft::AddInput(const std::string& name, const TensorType& type) {
  Describe(name, type, *proto_.mutable_graph()->add_input());
}

void ModelDraft::AddOutput(const std::string& name, const TensorType& type) {
  Describe(name, type, *proto_.mutable_graph()->add_output());
}

onnx::NodeProto& ModelDraft::AddNode(absl::string_view wanted,
                                     absl::string_view op_type,
                                     absl::Span<const std::string> inputs,
                                     absl::Span<const std::string> outputs) {
  onnx::NodeProto& node = *proto_.mutable_graph()->add_node();
  node.set_name(TakeFree(wanted, nodes_));
  node.set_op_type(std::string(op_type));
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

void ModelDraft::AddInitializer(std::string name, const TensorType& type,
                                absl::Span<const std::byte> bytes) {
  initializers_.push_back({std::move(name), type, bytes});
}

void ModelDraft::AddInitializer(std::string name, HostTensor tensor) {
  const HostTensor& kept = owned_.emplace_back(std::move(tensor));
  AddInitializer(std::move(name), kept.type(), kept.byte_span());
}

void SetType(const TensorType& type, onnx::TensorProto& proto) {
  proto.set_data_type(OnnxOfDType(type.dtype));
  for (const int64_t extent : type.dims) proto.add_dims(extent);
}

}  // namespace partita
