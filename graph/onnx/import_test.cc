// The importer's exact messages for models that it cannot read.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/import.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/option_error.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

// %y = relu %x over f32[2, 3].
onnx::ModelProto ReluModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("g");
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name("x");
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_value(2);
  type.mutable_shape()->add_dim()->set_dim_value(3);
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Relu");
  node.set_name("act");
  node.add_input("x");
  node.add_output("y");
  graph.add_output()->set_name("y");
  return model;
}

onnx::TensorShapeProto& InputShape(onnx::ModelProto& model) {
  return *model.mutable_graph()
              ->mutable_input(0)
              ->mutable_type()
              ->mutable_tensor_type()
              ->mutable_shape();
}

// The bytes as a file named "m".
std::string WriteModel(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/m";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string ErrorOf(const std::string& bytes,
                    const ImportOptions& options = {}) {
  const std::string path = WriteModel(bytes);
  absl::Status status = ImportOnnx(path, options).status();
  // A status prints several payloads in any order.
  status.ErasePayload("partita/given_name");
  return absl::StrReplaceAll(status.ToString(), {{path, "m"}});
}
std::string ErrorOf(const onnx::ModelProto& model,
                    const ImportOptions& options = {}) {
  return ErrorOf(model.SerializeAsString(), options);
}

std::string InputTypeOf(const onnx::ModelProto& model,
                        const ImportOptions& options) {
  const auto module =
      ImportOnnx(WriteModel(model.SerializeAsString()), options);
  if (!module.ok()) return module.status().ToString();
  return module->main().type(module->main().inputs()[0]).ToString();
}

TEST(ImportErrors, OutputsOfOneName) {
  onnx::ModelProto model = ReluModel();
  model.mutable_graph()->add_output()->set_name("y");
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: output y (node act): found a second output "
            "of this name; expected one");
}

TEST(ImportErrors, TheModelItselfIsFine) {
  EXPECT_EQ(ErrorOf(ReluModel()), "OK");
}

TEST(ImportErrors, AModelWithoutAGraphIsRefused) {
  onnx::ModelProto model = ReluModel();
  model.clear_graph();
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: found no graph; expected a serialised "
            "ModelProto with one; copy or export it again, as the file may be "
            "cut short");
}

TEST(ImportErrors, ATruncatedModelIsRefused) {
  const std::string bytes = ReluModel().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(ErrorOf(bytes.substr(0, size)), "OK") << size;
  }
  EXPECT_EQ(
      ErrorOf(std::string("\xff\xff\xff random", 10)),
      "INVALID_ARGUMENT: m: found bytes that are not a whole ONNX model; "
      "expected a serialised ModelProto of at most 2 GiB beside its weights; "
      "copy or export it again, as the file may be cut short");
}

TEST(ImportErrors, UnboundDimensionsAreNamed) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  InputShape(model).mutable_dim(1)->clear_value();
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: found symbolic dimensions without a value: "
            "batch, x.1; expected an extent for each, or whole shapes of the "
            "inputs [partita/import_option='dims']");
  EXPECT_EQ(ErrorOf(model, {.dims = {{"batch", 4}, {"x.1", 2}}}), "OK");
}

// An empty shape is a scalar's; a missing one is unknown.
TEST(ImportErrors, InputsWithoutAShapeAreAskedFor) {
  onnx::ModelProto model = ReluModel();
  auto& type = *model.mutable_graph()
                    ->mutable_input(0)
                    ->mutable_type()
                    ->mutable_tensor_type();
  type.clear_shape();
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: found inputs without a shape: x; expected "
            "the whole shape of each input without one "
            "[partita/import_option='shapes']");
  EXPECT_EQ(InputTypeOf(model, {.shapes = {{"x", {4, 5}}}}), "f32[4, 5]");
  EXPECT_EQ(InputTypeOf(model, {.shapes = {{"x", {}}}}), "f32[]");
  EXPECT_EQ(InputTypeOf(model, {.shapes = {{"x", {4, 5}}}, .batch = 7}),
            "f32[7, 5]");
  onnx::ValueInfoProto& other = *model.mutable_graph()->add_input();
  other = model.graph().input(0);
  other.set_name("z");
  other.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: found inputs without a shape: x, and "
            "symbolic dimensions without a value: z.0; expected the whole "
            "shape of each input without one, and an extent for each dimension "
            "[partita/import_option='dims']");
  type.mutable_shape();
  model.mutable_graph()->mutable_input()->RemoveLast();
  EXPECT_EQ(InputTypeOf(model, {}), "f32[]");
}

TEST(ImportErrors, DimensionsWithoutANameAreDistinct) {
  onnx::ModelProto model = ReluModel();
  for (const char* name : {"?", "", "None"}) {
    for (int i : {0, 1}) InputShape(model).mutable_dim(i)->set_dim_param(name);
    EXPECT_EQ(ErrorOf(model),
              "INVALID_ARGUMENT: m: found symbolic dimensions without a value: "
              "x.0, x.1; expected an extent for each, or whole shapes of the "
              "inputs [partita/import_option='dims']");
    EXPECT_EQ(InputTypeOf(model, {.dims = {{"x.0", 4}, {"x.1", 5}}}),
              "f32[4, 5]");
  }
}

TEST(ImportErrors, ADimensionThatTheModelDoesNotHaveIsNotIgnored) {
  onnx::ModelProto model = ReluModel();
  EXPECT_EQ(ErrorOf(model, {.dims = {{"batch", 4}}}),
            "INVALID_ARGUMENT: m: extent of batch: found no such symbolic "
            "dimension; expected none, as the model has none: the file fixes "
            "each extent; export it with open ones, in PyTorch by "
            "dynamic_axes [partita/option='dims']");
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  InputShape(model).mutable_dim(1)->clear_value();
  EXPECT_EQ(ErrorOf(model, {.dims = {{"bach", 4}}, .shapes = {{"x", {4, 2}}}}),
            "INVALID_ARGUMENT: m: extent of bach: found no such symbolic "
            "dimension; expected one of: batch, x.1; did you mean batch? "
            "[partita/option='dims']");
}

TEST(Import, ABatchIsDimension0WhereItIsOpen) {
  onnx::ModelProto model = ReluModel();
  EXPECT_EQ(InputTypeOf(model, {.batch = 7}), "f32[2, 3]");
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  EXPECT_EQ(InputTypeOf(model, {.dims = {{"batch", 4}}, .batch = 7}),
            "f32[7, 3]");
  EXPECT_EQ(InputTypeOf(model, {.shapes = {{"x", {4, 3}}}, .batch = 7}),
            "f32[7, 3]");
}

TEST(ImportErrors, AShapeAndADimensionAgree) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  InputShape(model).mutable_dim(1)->clear_value();
  EXPECT_EQ(ErrorOf(model, {.dims = {{"batch", 4}}, .shapes = {{"x", {5, 2}}}}),
            "INVALID_ARGUMENT: m: dimension batch: found 4 and, in the shape "
            "of x, 5; expected one of them [partita/option='dims']");
  EXPECT_EQ(ErrorOf(model, {.dims = {{"batch", 4}}, .shapes = {{"x", {4, 2}}}}),
            "OK");
}

TEST(ImportErrors, OpsOfAnyNumberOfOperandsHaveThemAll) {
  for (const char* op : {"Max", "Mean", "Min", "Sum", "Concat", "Einsum"}) {
    onnx::ModelProto model = ReluModel();
    onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
    node.set_op_type(op);
    node.add_input("");
    EXPECT_EQ(
        ErrorOf(model, {}),
        absl::StrCat("INVALID_ARGUMENT: m: ", op,
                     " (node act): found no input 1; expected one or more, and "
                     "none left out"));
  }
}

TEST(ImportErrors, FlagsAreZeroOrOne) {
  for (int64_t value : {0, 1, 2, -1}) {
    onnx::ModelProto model = ReluModel();
    onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
    node.set_op_type("ArgMax");
    onnx::AttributeProto& flag = *node.add_attribute();
    flag.set_name("select_last_index");
    flag.set_type(onnx::AttributeProto::INT);
    flag.set_i(value);
    const bool is_flag = value == 0 || value == 1;
    EXPECT_EQ(ErrorOf(model),
              is_flag ? "OK"
                      : absl::StrCat("INVALID_ARGUMENT: m: ArgMax (node act): "
                                     "found attribute select_last_index = ",
                                     value, "; expected 0 or 1"));
  }
}

TEST(ImportErrors, EveryUnsupportedOpIsListedAtOnce) {
  onnx::ModelProto model = ReluModel();
  model.mutable_graph()->mutable_node(0)->set_op_type("Frob");
  onnx::NodeProto& second = *model.mutable_graph()->add_node();
  second.set_op_type("Nicate");
  second.set_domain("com.example");
  second.add_output("z");
  EXPECT_EQ(ErrorOf(model),
            "UNIMPLEMENTED: m: found 2 nodes whose op is not supported:\n"
            "  Frob (node act)\n"
            "  Nicate of domain com.example (node z)");
}

TEST(ImportErrors, ANodeWithoutOpAndNameHasItsIndex) {
  onnx::ModelProto model = ReluModel();
  const int index = model.graph().node_size();
  model.mutable_graph()->add_node();
  EXPECT_EQ(
      ErrorOf(model),
      absl::StrCat("UNIMPLEMENTED: m: found 1 node whose op is not supported:\n"
                   "  (no op type) (node #",
                   index, ")"));
}

TEST(ImportErrors, NodesOfTheStandardNeedItsOpset) {
  onnx::ModelProto model = ReluModel();
  model.clear_opset_import();
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: found no opset_import; expected one of "
            "domain ai.onnx, 7..28, to which the op Relu belongs; add it, or "
            "export the model again");
  onnx::OperatorSetIdProto& other = *model.add_opset_import();
  other.set_domain("com.example");
  other.set_version(3);
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: found an opset_import of com.example 3 only; "
            "expected one of domain ai.onnx, 7..28, to which the op Relu "
            "belongs; add it, or export the model again");
}

TEST(ImportErrors, AModelOfAnotherDomainAloneIsRefusedForItsOps) {
  onnx::ModelProto model = ReluModel();
  model.mutable_opset_import(0)->set_domain("com.example");
  model.mutable_graph()->mutable_node(0)->set_domain("com.example");
  EXPECT_EQ(ErrorOf(model),
            "UNIMPLEMENTED: m: found 1 node whose op is not supported:\n"
            "  Relu of domain com.example (node act)");
}

TEST(ImportErrors, AnUnknownAttributeIsNotIgnored) {
  onnx::ModelProto model = ReluModel();
  onnx::AttributeProto& attribute =
      *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("leak");
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(0.5f);
  EXPECT_EQ(ErrorOf(model),
            "UNIMPLEMENTED: m: Relu (node act): found attribute leak; expected "
            "none, as the op has no attribute");
  attribute.set_name("alpha");
  *model.mutable_graph()->mutable_node(0)->add_attribute() = attribute;
  model.mutable_graph()->mutable_node(0)->set_op_type("Elu");
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: Elu (node act): found attribute alpha twice; "
            "expected each attribute at most once");
}

TEST(ImportErrors, ACycleIsRefused) {
  onnx::ModelProto model = ReluModel();
  model.mutable_graph()->mutable_node(0)->set_input(0, "y");
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: Relu (node act): found input y, which no "
            "earlier node gives; expected nodes in topological order without a "
            "cycle");
}

TEST(ImportErrors, HugeExtentsAreRefused) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_value(int64_t{1} << 62);
  EXPECT_TRUE(absl::StartsWith(ErrorOf(model), "INVALID_ARGUMENT: m: input x"))
      << ErrorOf(model);
}

TEST(ImportErrors, ANegativeExtentIsAnOpenOne) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_value(-1);
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: found symbolic dimensions without a value: "
            "x.0; expected an extent for each, or whole shapes of the inputs "
            "[partita/import_option='dims']");
}

TEST(ImportErrors, ShapesAreForInputsThatExistAndFit) {
  EXPECT_EQ(ErrorOf(ReluModel(), {.shapes = {{"xx", {2, 3}}}}),
            "INVALID_ARGUMENT: m: shape of xx: found no such input; expected "
            "one of: x; did you mean x? [partita/option='shapes']");
  EXPECT_EQ(ErrorOf(ReluModel(), {.shapes = {{"x", {2, 4}}}}),
            "INVALID_ARGUMENT: m: shape of x: found [2, 4]; expected [2, 3], "
            "where numbers are fixed in the file; to give others, export it "
            "with open dimensions, in PyTorch by dynamic_axes "
            "[partita/option='shapes']");
}

TEST(ImportErrors, AnErrorOfWhatWasGivenNamesTheOption) {
  const absl::Status status =
      ImportOnnx(WriteModel(ReluModel().SerializeAsString()),
                 {.values = {{"x", {Number(1), Number(2)}}}})
          .status();
  EXPECT_TRUE(absl::EndsWith(status.message(),
                             "value of x: found 2 numbers; expected 6 for "
                             "f32[2, 3]"))
      << status;
  EXPECT_EQ(OptionOf(status), "values");
  ASSERT_TRUE(GivenOptionOf(status).has_value());
  EXPECT_EQ(GivenOptionOf(status)->option, ImportOption::kValues);
  EXPECT_EQ(GivenOptionOf(status)->name, "x");
  EXPECT_EQ(RemedyOption(ImportOnnx("/gone", {}).status()), std::nullopt);
  EXPECT_TRUE(
      absl::EndsWith(ImportOnnx(WriteModel(ReluModel().SerializeAsString()),
                                {.values = {{"x", {Number(1)}}}})
                         .status()
                         .message(),
                     "value of x: found 1 number; expected 6 for f32[2, 3]"));
}

TEST(ImportErrors, ATypeOfGivenExtentsIsTheErrorOfTheirOption) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  EXPECT_EQ(ErrorOf(model, {.dims = {{"batch", -8}}}),
            "INVALID_ARGUMENT: m: input x: found extent -8 in f32[-8, 3]; "
            "expected extents of 0 or more [partita/option='dims']");
  EXPECT_EQ(ErrorOf(model, {.shapes = {{"x", {-8, 3}}}}),
            "INVALID_ARGUMENT: m: input x: found extent -8 in f32[-8, 3]; "
            "expected extents of 0 or more [partita/option='shapes']");
}

TEST(ImportErrors, ATypeBlamesTheDimensionsAtFault) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  InputShape(model).mutable_dim(1)->set_dim_param("length");
  const auto blamed = [&](const ImportOptions& options) {
    const absl::Status status =
        ImportOnnx(WriteModel(model.SerializeAsString()), options).status();
    const auto given = GivenOptionOf(status);
    return absl::StrCat(
        given.has_value() ? given->name : "nothing",
        absl::StrContains(status.message(), "length") ? ", all are named" : "");
  };
  EXPECT_EQ(blamed({.dims = {{"batch", 8}, {"length", -2}}}), "length");
  EXPECT_EQ(blamed({.dims = {{"batch", -8}, {"length", 2}}}), "batch");
  const int64_t large = int64_t{1} << 40;
  EXPECT_EQ(blamed({.dims = {{"batch", large}, {"length", large}}}),
            "batch, all are named");
  // Not the dimension that `batch` gives.
  EXPECT_EQ(blamed({.dims = {{"batch", 8}, {"length", 2}}, .batch = -8}),
            "nothing");
  EXPECT_EQ(blamed({.dims = {{"batch", 8}, {"length", large}}, .batch = large}),
            "length");
}

TEST(ImportErrors, ANodeThatCannotComputeWithGivenExtentsBlamesThem) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  node.set_op_type("Add");
  node.add_input("w");
  onnx::TensorProto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(2);
  w.add_dims(3);
  for (int i = 0; i < 6; ++i) w.add_float_data(i);
  EXPECT_EQ(ErrorOf(model, {.dims = {{"batch", 2}}}), "OK");
  const absl::Status status = ImportOnnx(WriteModel(model.SerializeAsString()),
                                         {.dims = {{"batch", 4}}})
                                  .status();
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "found operand 1 %w: f32[2, 3]; expected "
                                "extents that broadcast with [4, 3]"))
      << status;
  EXPECT_EQ(RemedyOption(status), ImportOption::kGivenExtents);
}

TEST(ImportErrors, GivenExtentsAreNotBlamedForOtherFaults) {
  onnx::ModelProto model = ReluModel();
  InputShape(model).mutable_dim(0)->set_dim_param("batch");
  const auto remedy_of = [&] {
    const absl::Status status =
        ImportOnnx(WriteModel(model.SerializeAsString()),
                   {.dims = {{"batch", 4}}})
            .status();
    EXPECT_FALSE(status.ok());
    return RemedyOption(status);
  };
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  node.set_op_type("Softmax");
  onnx::AttributeProto& axis = *node.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(7);
  EXPECT_EQ(remedy_of(), std::nullopt);  // an attribute
  node.clear_attribute();
  node.set_op_type("Add");
  node.add_input("w");
  onnx::TensorProto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::INT64);
  w.add_dims(1);
  w.add_int64_data(1);
  EXPECT_EQ(remedy_of(), std::nullopt);  // an element type
  w.clear_int64_data();
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.set_dims(0, 2);
  w.add_float_data(1);
  w.add_float_data(1);
  EXPECT_EQ(remedy_of(), ImportOption::kGivenExtents);
}

// It has too many elements to be computed here.
TEST(ImportErrors, AShapeThatNoInputDecidesIsNotAskedFor) {
  onnx::ModelProto model = ReluModel();
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::TensorProto& count = *graph.add_initializer();
  count.set_name("count");
  count.set_data_type(onnx::TensorProto::INT64);
  count.add_dims(1);
  count.add_int64_data(int64_t{1} << 21);
  onnx::NodeProto& many = *graph.mutable_node(0);
  many.set_op_type("ConstantOfShape");
  many.set_input(0, "count");
  many.set_output(0, "s");
  onnx::AttributeProto& value = *many.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::INT64);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_int64_data(1);
  onnx::NodeProto& reshape = *graph.add_node();
  reshape.set_op_type("Reshape");
  reshape.add_input("x");
  reshape.add_input("s");
  reshape.add_output("y");
  const absl::Status status =
      ImportOnnx(WriteModel(model.SerializeAsString()), {}).status();
  EXPECT_TRUE(absl::EndsWith(status.message(), "known at compile time"))
      << status;
  EXPECT_EQ(RemedyOption(status), std::nullopt);
}

// The literal of the only constant in the module's function.
LiteralId OnlyLiteral(const Module& module) {
  for (const OpView& op : module.main().ops()) {
    if (op.is(kConstant)) return op.attr_literal("value");
  }
  ADD_FAILURE() << "no constant";
  return LiteralId();
}

TEST(ImportWeights, RawDataStayInTheModelFile) {
  for (const bool as_node : {false, true}) {
    onnx::ModelProto model = ReluModel();
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::TensorProto* tensor = nullptr;
    if (as_node) {
      onnx::NodeProto& node = *graph.add_node();
      node.set_op_type("Constant");
      node.add_output("w");
      onnx::AttributeProto& attribute = *node.add_attribute();
      attribute.set_name("value");
      tensor = attribute.mutable_t();
    } else {
      tensor = graph.add_initializer();
      tensor->set_name("w");
    }
    const std::string weights = "0123456789abcdef";
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->add_dims(4);
    tensor->set_raw_data(weights);
    const std::string bytes = model.SerializeAsString();
    const absl::StatusOr<Module> module = ImportOnnx(WriteModel(bytes), {});
    ASSERT_TRUE(module.ok()) << module.status();
    const LiteralPool& pool = module->literals();
    const LiteralId literal = OnlyLiteral(*module);
    const auto range = pool.file_range(literal);
    ASSERT_TRUE(range.has_value());
    EXPECT_EQ(range->offset, static_cast<int64_t>(bytes.find(weights)));
    EXPECT_EQ(pool.hash(literal),
              HashBytes(absl::MakeConstSpan(
                  reinterpret_cast<const std::byte*>(weights.data()), 16)));
    EXPECT_EQ(std::memcmp(pool.tensor(literal).bytes(), weights.data(), 16), 0);
  }
}

TEST(ImportWeights, RawDataMustBeAsManyBytesAsTheTypeAsksFor) {
  onnx::ModelProto model = ReluModel();
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(int64_t{1} << 40);
  // As long as the range that replaces it.
  tensor.set_raw_data("0123456789abcdef");
  EXPECT_EQ(ErrorOf(model),
            "INVALID_ARGUMENT: m: tensor w: found 16 bytes; expected "
            "4398046511104 for f32[1099511627776]");
}

TEST(ImportWeights, ExternalFilesAreMappedOnce) {
  const std::string folder = testing::TempDir() + "/shared";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/w.bin") << std::string(16, 'w');
  onnx::ModelProto model = ReluModel();
  for (const char* offset : {"0", "3"}) {
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(offset);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& location = *tensor.add_external_data();
    location.set_key("location");
    location.set_value("w.bin");
    onnx::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key("offset");
    entry.set_value(offset);
  }
  const std::string path = folder + "/model.onnx";
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  const absl::StatusOr<Module> module = ImportOnnx(path, {});
  ASSERT_TRUE(module.ok()) << module.status();
  const LiteralPool& pool = module->literals();
  ASSERT_EQ(pool.size(), 2);
  EXPECT_EQ(pool.file_range(LiteralId(0))->file,
            pool.file_range(LiteralId(1))->file);
  EXPECT_EQ(pool.file_range(LiteralId(1))->offset, 3);
}

// With %w in an external file.
std::string ExternalModel(const std::string& location,
                          const std::string& offset) {
  onnx::ModelProto model = ReluModel();
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(4);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  add("offset", offset);
  return model.SerializeAsString();
}

// `model.onnx` in a folder of its own.
std::string ErrorOfExternal(const std::string& location,
                            const std::string& offset) {
  const std::string folder = testing::TempDir() + "/external";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/w.bin") << std::string(16, 'w');
  std::ofstream(testing::TempDir() + "/secret.bin") << std::string(64, 's');
  const std::string path = folder + "/model.onnx";
  std::ofstream(path) << ExternalModel(location, offset);
  const absl::Status status = ImportOnnx(path, {}).status();
  return status.ok() ? "OK"
                     : std::string(absl::StripPrefix(status.message(),
                                                     path + ": tensor w: "));
}

TEST(ImportErrors, ExternalDataStayInTheFolderAndInTheFile) {
  EXPECT_EQ(ErrorOfExternal("w.bin", "0"), "OK");
  EXPECT_EQ(ErrorOfExternal("../secret.bin", "0"),
            "found external data at ../secret.bin; expected a file inside the "
            "model's folder, or beside the file that a link to the model leads "
            "to; copy it there");
  EXPECT_EQ(ErrorOfExternal("/etc/passwd", "0"),
            "found external data at /etc/passwd; expected a file inside the "
            "model's folder, or beside the file that a link to the model leads "
            "to; copy it there");
  EXPECT_EQ(ErrorOfExternal("gone.bin", "0"),
            "found no file gone.bin; expected external data in the model's "
            "folder");
  EXPECT_EQ(ErrorOfExternal("", "0"),
            "found external data without a location; expected the name of a "
            "file in the model's folder");
  EXPECT_EQ(ErrorOfExternal(std::string("w.bin\0x", 7), "0"),
            "found external data without a location; expected the name of a "
            "file in the model's folder");
  EXPECT_EQ(ErrorOfExternal("w.bin", "-4"),
            "found external offset -4; expected a number of bytes");
  EXPECT_EQ(ErrorOfExternal("w.bin", "four"),
            "found external offset four; expected a number of bytes");
  for (const char* offset : {"4", "9223372036854775804"}) {
    EXPECT_TRUE(absl::EndsWith(ErrorOfExternal("w.bin", offset),
                               "expected a file that long; it has 16"))
        << ErrorOfExternal("w.bin", offset);
  }
}

// blobs/ has the files, and another folder links to them by their names.
TEST(ImportErrors, ExternalDataMayBeBesideWhatTheModelIsALinkTo) {
  namespace fs = std::filesystem;
  const fs::path cache = fs::path(testing::TempDir()) / "cache";
  fs::remove_all(cache);
  fs::create_directories(cache / "blobs");
  fs::create_directories(cache / "model");
  std::ofstream(cache / "blobs/1") << ExternalModel("w.bin", "0");
  std::ofstream(cache / "blobs/2") << std::string(16, 'w');
  std::ofstream(cache / "secret") << std::string(16, 's');
  fs::create_symlink("../blobs/1", cache / "model/model.onnx");
  fs::create_symlink("../blobs/2", cache / "model/w.bin");
  const std::string path = (cache / "model/model.onnx").string();
  EXPECT_TRUE(ImportOnnx(path, {}).ok()) << ImportOnnx(path, {}).status();
  fs::remove(cache / "model/w.bin");
  fs::create_symlink("../secret", cache / "model/w.bin");
  EXPECT_EQ(ImportOnnx(path, {}).status().message(),
            absl::StrCat(path,
                         ": tensor w: found external data at w.bin, "
                         "which is ",
                         (cache / "secret").string(),
                         "; expected a file inside the model's folder, or "
                         "beside the file that a link to the model leads to; "
                         "copy it there"));
}

}  // namespace
}  // namespace partita
