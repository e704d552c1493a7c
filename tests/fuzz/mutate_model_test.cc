// Mutated models are models, of every kind that the importer must withstand.
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/mutate_model.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

// Two nodes in sequence, an attribute and an initializer.
onnx::ModelProto SmallModel() {
  onnx::ModelProto model;
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name("x");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  onnx::TensorProto& axes = *graph.add_initializer();
  axes.set_name("axes");
  axes.set_data_type(onnx::TensorProto::INT64);
  axes.add_dims(1);
  axes.add_int64_data(0);
  for (const char* op : {"Flatten", "Squeeze"}) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    node.add_input(graph.node_size() == 1 ? "x" : "Flatten");
    node.add_output(op);
    onnx::AttributeProto& axis = *node.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(1);
  }
  return model;
}

bool CallsItself(const onnx::FunctionProto& function) {
  for (const onnx::NodeProto& node : function.node()) {
    if (node.op_type() == function.name()) return true;
  }
  return false;
}

TEST(MutateModel, GivesEveryKind) {
  ModelParts parts;
  parts.Learn(SmallModel());
  int calls = 0, recursions = 0, branches = 0, weights = 0, attributes = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    onnx::ModelProto model = SmallModel();
    MutateModel(parts, random, model);
    for (const auto& function : model.functions()) {
      ++calls;
      recursions += CallsItself(function);
    }
    for (const onnx::NodeProto& node : model.graph().node()) {
      branches += node.op_type() == "If";
      attributes += node.attribute_size() > 0 && node.attribute(0).i() != 1;
    }
    weights += model.graph().initializer(0).int64_data(0) != 0;
    onnx::ModelProto again;
    ASSERT_TRUE(again.ParseFromString(model.SerializeAsString()));
  }
  for (int found : {calls, recursions, branches, weights, attributes}) {
    EXPECT_GT(found, 5);
  }
}

TEST(MutateModel, IsTheSameForTheSameSeed) {
  std::string found[2];
  for (std::string& bytes : found) {
    std::mt19937_64 random(7);
    onnx::ModelProto model = SmallModel();
    MutateModel({}, random, model);
    bytes = model.SerializeAsString();
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace partita
