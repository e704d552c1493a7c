// Protobuf code for building models.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/testing/sketched_model.h"

#include <sys/mman.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/evaluate.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

void Declare(onnx::ValueInfoProto& value, const std::string& name, int type,
             const std::vector<int64_t>& dims) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();  // also if it has no dimension
  for (int64_t dim : dims) {
    tensor.mutable_shape()->add_dim()->set_dim_value(dim);
  }
}

void SetTensor(onnx::TensorProto& proto, int type, const HostTensor& tensor) {
  proto.set_data_type(type);
  for (int64_t dim : tensor.type().dims) proto.add_dims(dim);
  proto.set_raw_data(tensor.bytes(), tensor.byte_span().size());
}

std::string Text(const HostTensor& tensor) {
  std::string text = tensor.type().ToString();
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    absl::StrAppend(&text, " ", ElementText(tensor, i));
  }
  return text;
}

}  // namespace

SketchedModel::SketchedModel(int opset) {
  model_.set_ir_version(8);
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name("g");
}

SketchedModel& SketchedModel::Input(const std::string& name, int type,
                                    const std::vector<int64_t>& dims) {
  Declare(*model_.mutable_graph()->add_input(), name, type, dims);
  return *this;
}

SketchedModel& SketchedModel::Value(const std::string& name, int type,
                                    const std::vector<int64_t>& dims) {
  Declare(*model_.mutable_graph()->add_value_info(), name, type, dims);
  return *this;
}

SketchedModel& SketchedModel::Output(const std::string& name) {
  model_.mutable_graph()->add_output()->set_name(name);
  return *this;
}

SketchedModel& SketchedModel::Output(const std::string& name, int type,
                                     const std::vector<int64_t>& dims) {
  Declare(*model_.mutable_graph()->add_output(), name, type, dims);
  return *this;
}

SketchedModel& SketchedModel::Constant(const std::string& name, int type,
                                       const HostTensor& tensor) {
  onnx::TensorProto& proto = *model_.mutable_graph()->add_initializer();
  proto.set_name(name);
  SetTensor(proto, type, tensor);
  return *this;
}

SketchedModel& SketchedModel::Ints(const std::string& name,
                                   const std::vector<int64_t>& values,
                                   bool scalar) {
  const Shape dims =
      scalar ? Shape{} : Shape{static_cast<int64_t>(values.size())};
  return Constant(name, onnx::TensorProto::INT64,
                  HostTensor::Of<int64_t>(dims, values));
}

SketchedModel& SketchedModel::Node(const std::string& op,
                                   const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_name("n");
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return *this;
}

onnx::AttributeProto& SketchedModel::NewAttr(const std::string& name,
                                             int type) {
  onnx::GraphProto& graph = *model_.mutable_graph();
  onnx::AttributeProto& attribute =
      *graph.mutable_node(graph.node_size() - 1)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(type));
  return attribute;
}

SketchedModel& SketchedModel::Attr(const std::string& name, int64_t value) {
  NewAttr(name, onnx::AttributeProto::INT).set_i(value);
  return *this;
}

SketchedModel& SketchedModel::Attr(const std::string& name, float value) {
  NewAttr(name, onnx::AttributeProto::FLOAT).set_f(value);
  return *this;
}

SketchedModel& SketchedModel::Attr(const std::string& name,
                                   const HostTensor& tensor, int type) {
  SetTensor(*NewAttr(name, onnx::AttributeProto::TENSOR).mutable_t(), type,
            tensor);
  return *this;
}

SketchedModel& SketchedModel::Attr(const std::string& name,
                                   const std::vector<int64_t>& values) {
  onnx::AttributeProto& attribute = NewAttr(name, onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute.add_ints(value);
  return *this;
}

SketchedModel& SketchedModel::Attr(const std::string& name,
                                   const std::vector<float>& values) {
  onnx::AttributeProto& attribute = NewAttr(name, onnx::AttributeProto::FLOATS);
  for (float value : values) attribute.add_floats(value);
  return *this;
}

SketchedModel& SketchedModel::Attr(const std::string& name,
                                   const std::vector<std::string>& words) {
  onnx::AttributeProto& attribute =
      NewAttr(name, onnx::AttributeProto::STRINGS);
  for (const std::string& word : words) attribute.add_strings(word);
  return *this;
}

SketchedModel& SketchedModel::Attr(const std::string& name,
                                   const std::string& word) {
  NewAttr(name, onnx::AttributeProto::STRING).set_s(word);
  return *this;
}

absl::StatusOr<Module> SketchedModel::Import(
    const ImportOptions& options) const {
  // A file in memory, under a name that can be opened.
  const int fd = memfd_create("model", MFD_CLOEXEC);
  model_.SerializeToFileDescriptor(fd);
  const std::string path = absl::StrCat("/proc/self/fd/", fd);
  absl::StatusOr<Module> module = ImportOnnx(path, options);
  close(fd);
  if (module.ok()) return module;
  return absl::Status(
      module.status().code(),
      absl::StrReplaceAll(module.status().message(), {{path + ": ", ""}}));
}

std::string SketchedModel::Run(const std::vector<HostTensor>& inputs,
                               const ImportOptions& options) const {
  const absl::StatusOr<Module> module = Import(options);
  if (!module.ok()) return std::string(module.status().message());
  const absl::StatusOr<std::vector<HostTensor>> outputs =
      Evaluate(module->main(), inputs);
  if (!outputs.ok()) return std::string(outputs.status().message());
  std::string text;
  for (const HostTensor& output : *outputs) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", Text(output));
  }
  return text;
}

}  // namespace partita
