// Models with their test data: which inputs are bound, and which remain.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/tested_model.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/onnx/testing/onnx_text.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

onnx::TensorProto ProtoOf(const HostTensor& tensor) {
  onnx::TensorProto proto;
  proto.set_data_type(OnnxOfDType(tensor.type().dtype));
  for (int64_t extent : tensor.type().dims) proto.add_dims(extent);
  const absl::Span<const std::byte> bytes = tensor.byte_span();
  proto.set_raw_data(bytes.data(), bytes.size());
  return proto;
}

// A folder of its own for each test, with a model.onnx.
class TestDataTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = absl::StrCat(testing::TempDir(), "/", test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(absl::StrCat(folder_, "/", name), std::ios::binary) << bytes;
  }
  void Model(const std::string& graph) {
    Write("model.onnx",
          ModelOfText(
              absl::StrCat("<ir_version: 8, opset_import: [\"\" : 17]>", graph))
              .SerializeAsString());
  }
  void Input(int index, const HostTensor& tensor) {
    Write(absl::StrCat("input_", index, ".pb"),
          ProtoOf(tensor).SerializeAsString());
  }

  // "f32[2, 3] for x": the output's type and the remaining inputs.
  std::string Import(const ImportOptions& options = {}) {
    return TextOf(ImportForTestData(folder_ + "/model.onnx", options, folder_));
  }
  // The same for inputs by name.
  std::string ImportNamed(std::map<std::string, HostTensor> inputs) {
    return TextOf(
        ImportForInputs(folder_ + "/model.onnx", {}, std::move(inputs)));
  }

  std::string TextOf(const absl::StatusOr<TestedModel>& tested) {
    if (!tested.ok()) {
      return absl::StrReplaceAll(tested.status().message(), {{folder_, "F"}});
    }
    const Graph& graph = tested->module.main();
    return absl::StrCat(graph.type(graph.outputs()[0]).ToString(), " for ",
                        absl::StrJoin(tested->inputs, " ",
                                      [](std::string* out, const auto& input) {
                                        absl::StrAppend(out, input.first);
                                      }));
  }

  std::string folder_;
};

constexpr char kReshape[] =
    "g (float[N, 6] x, int64[2] shape) => (float[A, B] y) "
    "{ y = Reshape(x, shape) }";

TEST_F(TestDataTest, ValuesThatDecideShapesAreBoundAndNoOthers) {
  Model(kReshape);
  Input(0, HostTensor(TensorType{DType::kF32, {2, 6}, {}}));
  Input(1, HostTensor::Of<int64_t>({2}, {3, -1}));
  EXPECT_EQ(Import(), "f32[3, 4] for x");
}

TEST_F(TestDataTest, InputsByNameDecideAsFilesDo) {
  Model(kReshape);
  const auto inputs = [](const char* name) {
    std::map<std::string, HostTensor> tensors;
    tensors.emplace("x", TensorType{DType::kF32, {2, 6}, {}});
    tensors.emplace(name, HostTensor::Of<int64_t>({2}, {3, -1}));
    return tensors;
  };
  EXPECT_EQ(ImportNamed(inputs("shape")), "f32[3, 4] for x");
  EXPECT_EQ(ImportNamed(inputs("shap")),
            "F/model.onnx: input shap: found no such input; expected one of: "
            "x, shape");
}

TEST_F(TestDataTest, ValuesThatDecideAreOfTheInputsType) {
  Model(kReshape);
  const auto import = [this](HostTensor shape) {
    std::map<std::string, HostTensor> tensors;
    tensors.emplace("x", TensorType{DType::kF32, {2, 6}, {}});
    tensors.emplace("shape", std::move(shape));
    return ImportNamed(std::move(tensors));
  };
  EXPECT_EQ(import(HostTensor::Of<float>({2}, {3, -1})),
            "F/model.onnx: input shape: found f32[2]; expected i64[2], as the "
            "model declares it");
  EXPECT_EQ(import(HostTensor::Of<int64_t>({1, 2}, {3, -1})),
            "F/model.onnx: input shape: found i64[1, 2]; expected i64[2], as "
            "the model declares it");
}

// A missing one stays open.
TEST_F(TestDataTest, SomeInputsByName) {
  Model(R"(g (float[N] x, float[M] y) => (float[A] z) {
    z = Concat <axis = 0> (x, y)
  })");
  std::map<std::string, HostTensor> inputs;
  inputs.emplace("x", TensorType{DType::kF32, {2}, {}});
  EXPECT_EQ(ImportNamed(std::move(inputs)),
            "F/model.onnx: found symbolic dimensions without a value: M; "
            "expected an extent for each, or whole shapes of the inputs");
}

// The second decides only when the first is known.
TEST_F(TestDataTest, OneAfterTheOther) {
  Model(R"(g (float[6] x, int64[1] a, int64[1] b, float[1] c)
              => (float[A, B] y) {
    two = Constant <value = int64[1] {2}> ()
    q = Mul(a, two)
    s = Concat <axis = 0> (b, q)
    r = Reshape(x, s)
    y = Mul(r, c)
  })");
  Input(0, HostTensor(TensorType{DType::kF32, {6}, {}}));
  Input(1, HostTensor::Of<int64_t>({1}, {1}));
  Input(2, HostTensor::Of<int64_t>({1}, {3}));
  Input(3, HostTensor(TensorType{DType::kF32, {1}, {}}));
  EXPECT_EQ(Import(), "f32[3, 2] for c x");
}

TEST_F(TestDataTest, AConditionIsBound) {
  Model(R"(g (float[2] x, bool c) => (float[N] y) {
    y = If (c) <
      then_branch = t () => (float[N] a) { a = Neg(x) },
      else_branch = e () => (float[N] a) { a = Concat <axis = 0> (x, x) }
    >
  })");
  Input(0, HostTensor(TensorType{DType::kF32, {2}, {}}));
  Input(1, HostTensor(TensorType{DType::kBool, {}, {}}));
  EXPECT_EQ(Import(), "f32[4] for x");
}

TEST_F(TestDataTest, EmptyListsAreBoundToo) {
  Model(R"(g (float[1] x, int64[0] shape) => (float y) {
    y = Reshape(x, shape)
  })");
  Input(0, HostTensor(TensorType{DType::kF32, {1}, {}}));
  Input(1, HostTensor(TensorType{DType::kI64, {0}, {}}));
  EXPECT_EQ(Import(), "f32[] for x");
}

TEST_F(TestDataTest, WhatTheCallerBindsNeedsNoFileAndWins) {
  Model(kReshape);
  Input(0, HostTensor(TensorType{DType::kF32, {2, 6}, {}}));
  ImportOptions options;
  options.values["shape"] = {Number(int64_t{12}), Number(int64_t{1})};
  EXPECT_EQ(Import(options), "f32[12, 1] for x");
  Input(1, HostTensor::Of<int64_t>({2}, {3, -1}));
  EXPECT_EQ(Import(options), "f32[12, 1] for x");
}

// ONNX wrote bf16 so before 1.13.
TEST_F(TestDataTest, BitsOfBFloat16) {
  const HostTensor bits = HostTensor::Of<uint16_t>({1}, {0x4020});
  HostTensor copy(bits.type());
  copy.data<uint16_t>()[0] = bits.data<uint16_t>()[0];
  const HostTensor declared =
      AsDeclared(std::move(copy), TensorType{DType::kBF16, {1}, {}});
  EXPECT_EQ(declared.type().ToString(), "bf16[1]");
  EXPECT_EQ(GetAsDouble(declared, 0), 2.5);
}

TEST_F(TestDataTest, FilesThatDoNotGoWithTheModel) {
  Model(kReshape);
  Input(0, HostTensor(TensorType{DType::kF32, {2, 6}, {}}));
  EXPECT_EQ(Import(),
            "F/input_1.pb: cannot be opened: No such file or directory; "
            "expected a file that can be read; correct its name or its rights");
  Input(1, HostTensor::Of<int64_t>({2}, {3, -1}));
  Input(2, HostTensor::Of<int64_t>({2}, {3, -1}));
  EXPECT_EQ(Import(),
            "F/input_2.pb: found a file after the model's 2 inputs; expected "
            "none; take the folder of its test data");
  fs::remove(folder_ + "/input_2.pb");
  Input(0, HostTensor(TensorType{DType::kF32, {2, 7}, {}}));
  EXPECT_EQ(Import(),
            "F/model.onnx: shape of x: found [2, 7]; expected [N, 6], where "
            "numbers are fixed in the file; to give others, export it with "
            "open dimensions, in PyTorch by dynamic_axes");
}

TEST_F(TestDataTest, AFileOfAnotherTypeIsNamed) {
  Model("g (float[2] x, float[N] y) => (float[2] z) { z = Add(x, y) }");
  Input(0, HostTensor(TensorType{DType::kF32, {3}, {}}));
  Input(1, HostTensor(TensorType{DType::kF32, {2}, {}}));
  EXPECT_EQ(Import(),
            "F/input_0.pb: found f32[3]; expected f32[2], as the model "
            "declares it; convert it, or take the folder of its test data");
  Input(0, HostTensor(TensorType{DType::kF32, {2}, {}}));
  Input(1, HostTensor(TensorType{DType::kI32, {2}, {}}));
  EXPECT_EQ(Import(),
            "F/input_1.pb: found i32[2]; expected f32[N], as the model "
            "declares it; convert it, or take the folder of its test data");
}

// The error is the model's, not that of the data, which are not tensors.
TEST_F(TestDataTest, AnUnsupportedModelIsReportedFirst) {
  Model("g (float[2] x) => (float[2] y) { y = Foo(x) }");
  Write("input_0.pb", "no tensor");
  EXPECT_EQ(Import(),
            "F/model.onnx: found 1 node whose op is not supported:\n"
            "  Foo (node y)");
}

}  // namespace
}  // namespace partita
