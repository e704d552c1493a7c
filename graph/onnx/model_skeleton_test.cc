// What the skeleton of a model keeps, and its locations of weights.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/model_skeleton.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

// One initializer, one tensor attribute, one tensor in a list of attributes.
onnx::ModelProto Weighted() {
  onnx::ModelProto model;
  model.set_producer_name("test");
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::TensorProto& initializer = *graph.add_initializer();
  initializer.set_name("w");
  initializer.set_raw_data(std::string(3000, 'i'));
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Constant");
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.mutable_t()->set_raw_data("attribute");
  attribute.add_tensors()->set_raw_data("listed");
  attribute.mutable_g()->add_initializer()->set_raw_data("branch");
  graph.add_initializer()->set_raw_data("");
  onnx::NodeProto& inside = *model.add_functions()->add_node();
  inside.add_attribute()->mutable_t()->set_raw_data("function");
  return model;
}

// All of them, with their raw_data.
std::vector<std::pair<onnx::TensorProto*, std::string>> TensorsOf(
    onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::AttributeProto& attribute =
      *graph.mutable_node(0)->mutable_attribute(0);
  onnx::NodeProto& inside = *model.mutable_functions(0)->mutable_node(0);
  return {{graph.mutable_initializer(0), std::string(3000, 'i')},
          {graph.mutable_initializer(1), ""},
          {attribute.mutable_t(), "attribute"},
          {attribute.mutable_tensors(0), "listed"},
          {attribute.mutable_g()->mutable_initializer(0), "branch"},
          {inside.mutable_attribute(0)->mutable_t(), "function"}};
}

std::string BytesAt(const std::string& bytes, const std::string& raw_data) {
  const std::optional<RawRange> range = DecodeRawRange(raw_data);
  return range.has_value() ? bytes.substr(range->offset, range->size) : "none";
}

TEST(ModelSkeleton, LocatesWeightsAndKeepsTheRest) {
  const onnx::ModelProto model = Weighted();
  const std::string bytes = model.SerializeAsString();
  const absl::StatusOr<std::string> skeleton = ModelSkeleton(bytes);
  ASSERT_TRUE(skeleton.ok()) << skeleton.status();
  EXPECT_LT(skeleton->size(), 300u);
  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(*skeleton));
  for (const auto& [tensor, content] : TensorsOf(parsed)) {
    EXPECT_EQ(BytesAt(bytes, tensor->raw_data()), content);
    tensor->set_raw_data(content);
  }
  EXPECT_EQ(parsed.SerializeAsString(), bytes);
}

TEST(ModelSkeleton, TruncatedBytesAreRefusedOrShorterMessages) {
  const std::string bytes = Weighted().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    onnx::ModelProto model;
    EXPECT_EQ(ModelSkeleton(cut).ok(), model.ParseFromString(cut)) << size;
  }
}

TEST(ModelSkeleton, BytesThatAreNoMessageAreRefused) {
  for (const std::string& bytes : {
           std::string("\x3a\x05", 2),  // a graph of 5 bytes, which are missing
           std::string("\x3a\x02\x2a\x05"
                       "12345",
                       9),              // longer than its graph
           std::string("\x0f", 1),      // wire type 7
           std::string("\x02\x00", 2),  // field 0
           std::string(11, '\xff'),     // an endless number
           std::string("\x09"
                       "1234",
                       5),                      // 8 bytes of 4
           std::string("\xa4\x06", 2),          // the end of no group
           std::string("\xa3\x06\x08\x01", 4),  // a group without an end
           std::string("\x3a\x02\xa3\x06", 4),  // or one after its graph's
           std::string("\x3a\x80\x80\x80\x80\x80\x00", 7),  // a long length
       }) {
    EXPECT_FALSE(ModelSkeleton(bytes).ok()) << testing::PrintToString(bytes);
  }
}

TEST(ModelSkeleton, UnknownFieldsAndGroupsStay) {
  // Field 100 as a group with a number, then field 101 of 32 bits.
  const std::string bytes(
      "\xa3\x06\x08\x01\xa4\x06\xad\x06"
      "1234",
      12);
  const absl::StatusOr<std::string> skeleton = ModelSkeleton(bytes);
  ASSERT_TRUE(skeleton.ok()) << skeleton.status();
  EXPECT_EQ(*skeleton, bytes);
}

// protobuf parses none of them either.
TEST(ModelSkeleton, GraphsInsideGraphsWithoutEndAreRefused) {
  onnx::GraphProto graph;
  for (int i = 0; i < 200; ++i) {
    onnx::GraphProto outer;
    outer.add_node()->add_attribute()->mutable_g()->Swap(&graph);
    graph.Swap(&outer);
  }
  onnx::ModelProto model;
  model.mutable_graph()->Swap(&graph);
  EXPECT_FALSE(ModelSkeleton(model.SerializeAsString()).ok());
}

// A field of a group that would be a graph elsewhere: nobody reads it, so its
// bytes need not be a message.
TEST(ModelSkeleton, FieldsOfGroupsAreNotRead) {
  const std::string bytes("\xa3\x06\x3a\x01\xff\xa4\x06", 7);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes));
  const absl::StatusOr<std::string> skeleton = ModelSkeleton(bytes);
  ASSERT_TRUE(skeleton.ok()) << skeleton.status();
  EXPECT_EQ(*skeleton, bytes);
}

}  // namespace
}  // namespace partita
