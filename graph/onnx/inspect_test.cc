// What is reported about a model without translating it.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/inspect.h"

#include <sys/mman.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/onnx/testing/onnx_text.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

absl::StatusOr<ModelSummary> Inspect(const std::string& bytes) {
  const int fd = memfd_create("model", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  absl::StatusOr<ModelSummary> summary =
      InspectOnnx(absl::StrCat("/proc/self/fd/", fd));
  close(fd);
  return summary;
}

ModelSummary SummaryOf(const onnx::ModelProto& model) {
  const auto summary = Inspect(model.SerializeAsString());
  EXPECT_TRUE(summary.ok()) << summary.status();
  return *summary;
}

std::string OpsText(const ModelSummary& summary) {
  return absl::StrJoin(
      summary.ops, ", ", [](std::string* out, const ModelSummary::Op& op) {
        absl::StrAppend(out, op.name, " ", op.count, "/", op.inside);
      });
}

std::string PortsText(const std::vector<ModelSummary::Port>& ports) {
  return absl::StrJoin(ports, ", ",
                       [](std::string* out, const ModelSummary::Port& port) {
                         absl::StrAppend(out, port.name, " ", port.type);
                       });
}

std::string UnsupportedText(const ModelSummary& summary) {
  std::string text;
  for (const ModelSummary::Unsupported& op : summary.unsupported) {
    absl::StrAppend(&text, op.op, " ", op.count, ": ", op.first, ": ", op.why,
                    ": ", op.instead, "\n");
  }
  return text;
}

std::string FaultsText(const ModelSummary& summary) {
  std::string text;
  for (const std::string& fault : summary.faults) {
    absl::StrAppend(&text, fault, "\n");
  }
  return text;
}

onnx::ModelProto Branching() {
  return ModelOfText(R"(
    <ir_version: 8, opset_import: ["" : 17, "own" : 1],
     producer_name: "maker", producer_version: "2">
    agraph (float[N, 3, ?] x, bool c) => (float[N, 3] y) {
      a = own.f(x)
      b = Relu(a)
      y = If (c) <
        then_branch = t () => (float[N] d) { d = Loop(b, c) },
        else_branch = e () => (float[N] d) { d = Relu(b) }
      >
    }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { c = Relu(a)  b = com.other.Gone(c) }
  )");
}

TEST(Inspect, CountsOpsInsideToo) {
  const ModelSummary summary = SummaryOf(Branching());
  EXPECT_EQ(summary.producer, "maker 2");
  EXPECT_EQ(summary.ir_version, 8);
  EXPECT_EQ(absl::StrJoin(summary.opsets, ", "), "ai.onnx 17, own 1");
  EXPECT_EQ(FaultsText(summary), "");
  EXPECT_EQ(PortsText(summary.inputs), "x f32[N, 3, ?], c bool[]");
  EXPECT_EQ(PortsText(summary.outputs), "y f32[N, 3]");
  EXPECT_EQ(absl::StrJoin(summary.open_dims, ", "), "N, x.2");
  EXPECT_EQ(summary.nodes, 3);
  EXPECT_EQ(summary.nodes_inside, 4);
  EXPECT_EQ(summary.functions, 1);
  EXPECT_EQ(OpsText(summary),
            "Relu 3/2, If 1/0, Loop 1/1, com.other.Gone 1/1, own.f 1/0");
}

TEST(Inspect, NamesWhatIsNotSupportedAndWhatWouldReplaceIt) {
  EXPECT_EQ(UnsupportedText(SummaryOf(Branching())),
            "com.other.Gone 1: node b in the function own.f: : a model that "
            "brings com.other.Gone along as a function\n"
            "Loop 1: node d in then_branch of y: : export with a fixed number "
            "of steps, which unrolls it\n");
}

TEST(Inspect, OpsNewerThanTheModelsOpset) {
  EXPECT_EQ(UnsupportedText(SummaryOf(ModelOfText(R"(
    <ir_version: 8, opset_import: ["" : 10]>
    agraph (float[3] x) => (float[3] y) { y = HardSwish(x) }
  )"))),
            "HardSwish 1: node y: came with opset 14: \n");
}

TEST(Inspect, ANodeWithoutOpAndNameHasItsIndex) {
  onnx::ModelProto model = ModelOfText(R"(
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[3] x) => (float[3] y) { y = Relu(x) }
  )");
  onnx::NodeProto& bare = *model.mutable_graph()->add_node();
  onnx::AttributeProto& body = *bare.add_attribute();
  body.set_name("body");
  body.mutable_g()->add_node()->set_op_type("Gone");
  const ModelSummary summary = SummaryOf(model);
  EXPECT_EQ(OpsText(summary), "(no op type) 1/0, Gone 1/1, Relu 1/0");
  EXPECT_EQ(UnsupportedText(summary),
            "(no op type) 1: node #1: : \nGone 1: node #0 in body of #1: : \n");
}

// The importer refuses it, but its contents can be listed.
TEST(Inspect, AnyOpset) {
  const ModelSummary summary = SummaryOf(ModelOfText(R"(
    <ir_version: 3, opset_import: ["" : 1]>
    agraph (float[3] x) => (float[3] y) { y = Relu(x) }
  )"));
  EXPECT_EQ(FaultsText(summary),
            "found opset 1; expected 7..28; convert the model\n");
  EXPECT_EQ(OpsText(summary), "Relu 1/0");
}

TEST(Inspect, NoOpset) {
  onnx::ModelProto model = Branching();
  model.clear_opset_import();
  EXPECT_EQ(FaultsText(SummaryOf(model)),
            "found no opset_import; expected one of domain ai.onnx, 7..28, to "
            "which the op Relu belongs; add it, or export the model again\n");
}

TEST(Inspect, FunctionsThatTheImporterRefuses) {
  onnx::ModelProto model = ModelOfText(R"(
    <ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    agraph (float[3] x) => (float[3] y) { y = own.top(x) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    top (a) => (b) { b = own.f(a) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    f (a, c) => (b) {
      b = If (c) <
        then_branch = t () => (float[3] d) { d = own.g(a) },
        else_branch = e () => (float[3] d) { d = own.leaf(a) }
      >
    }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    g (a) => (b) { b = own.f(a) }
    <domain: "own", opset_import: ["" : 29]>
    leaf (a) => (b) { b = Relu(a) }
  )");
  EXPECT_EQ(
      FaultsText(SummaryOf(model)),
      "function own.leaf: found opset 29; expected 7..28; convert the model\n"
      "function own.top: found a call of itself, or of one that calls "
      "itself; expected functions without recursion\n"
      "function own.f: found a call of itself, or of one that calls "
      "itself; expected functions without recursion\n"
      "function own.g: found a call of itself, or of one that calls "
      "itself; expected functions without recursion\n");
  *model.add_functions() = model.functions(3);
  EXPECT_TRUE(absl::StartsWith(
      FaultsText(SummaryOf(model)),
      "function own.leaf: found a second definition; expected one\n"));
}

TEST(Inspect, SparseInitializers) {
  onnx::ModelProto model = Branching();
  model.mutable_graph()->add_sparse_initializer();
  model.mutable_graph()
      ->mutable_node(2)
      ->mutable_attribute(0)
      ->mutable_g()
      ->add_sparse_initializer();
  EXPECT_EQ(FaultsText(SummaryOf(model)),
            "found sparse initializers; expected dense ones\n"
            "in then_branch of y: found sparse initializers; expected dense "
            "ones\n");
}

TEST(Inspect, TypesThatAreNotRead) {
  onnx::ModelProto model = Branching();
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::STRING);
  graph.mutable_input(1)->mutable_type()->mutable_sequence_type();
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  const ModelSummary summary = SummaryOf(model);
  EXPECT_EQ(PortsText(summary.inputs), "x STRING[N, 3, ?], c a sequence");
  EXPECT_EQ(PortsText(summary.outputs), "y f32 of any shape");
}

onnx::TensorProto& AddWeight(onnx::GraphProto& graph, int type,
                             std::vector<int64_t> dims) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(absl::StrCat("w", graph.initializer_size()));
  tensor.set_data_type(type);
  for (int64_t extent : dims) tensor.add_dims(extent);
  return tensor;
}

TEST(Inspect, ParametersAndTheFilesBeside) {
  onnx::ModelProto model = Branching();
  onnx::GraphProto& graph = *model.mutable_graph();
  AddWeight(graph, onnx::TensorProto::FLOAT, {10, 20});
  AddWeight(graph, onnx::TensorProto::FLOAT16, {7});
  auto& entry =
      *AddWeight(graph, onnx::TensorProto::FLOAT, {4}).add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  // More than any memory holds, and an invalid extent.
  AddWeight(graph, onnx::TensorProto::INT64, {1 << 30, 1 << 30, 1 << 30});
  AddWeight(graph, onnx::TensorProto::INT64, {-5, 3});
  const ModelSummary summary = SummaryOf(model);
  EXPECT_EQ(summary.parameter_tensors, 5);
  EXPECT_EQ(summary.parameters, 200 + 7 + 4 + (int64_t{1} << 50));
  EXPECT_EQ(summary.bytes.at("f32"), 816);
  EXPECT_EQ(summary.bytes.at("f16"), 14);
  EXPECT_EQ(summary.external.at("weights.bin"), 16);
}

TEST(Inspect, SizesThatOverflowAreCapped) {
  onnx::ModelProto model = Branching();
  for (int i = 0; i < 5000; ++i) {
    AddWeight(*model.mutable_graph(), onnx::TensorProto::INT64,
              {1 << 30, 1 << 30});
  }
  const ModelSummary summary = SummaryOf(model);
  EXPECT_EQ(summary.parameters, int64_t{1} << 60);
  EXPECT_EQ(summary.bytes.at("i64"), int64_t{1} << 60);
}

TEST(Inspect, BytesThatAreNoModelAreRefused) {
  const absl::Status status = Inspect("no model").status();
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "found bytes that are not a whole ONNX model"))
      << status;
}

}  // namespace
}  // namespace partita
