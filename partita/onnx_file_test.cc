// Exports a session's model, for other programs, and reads it back.
// SPDX-License-Identifier: Apache-2.0

#include "partita/onnx_file.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/ops.h"
#include "graph/onnx/import.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "partita/session.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

// @train: w becomes 2 w. @evaluate: y = relu(x w).
Module Doubling() {
  GraphBuilder b("train");
  const Tensor w =
      b.Variable("w", HostTensor::Of<float>({2, 2}, {1, -2, 3, 4}));
  b.Update("w", w * 2.0);
  b.BeginFunction("evaluate");
  const Tensor x = b.Input("x", DType::kF32, {1, 2});
  b.Output("y", Relu(MatMul(x, b.ReadVariable("w"))));
  absl::StatusOr<Module> module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::unique_ptr<Session> SessionOf(Module module) {
  absl::StatusOr<Compiled> compiled =
      Compile(std::move(module), EqualCpus(1, 1 << 20));
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  auto session =
      Session::Create(std::make_shared<const Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<float> Outputs(Session& session) {
  const HostTensor x = HostTensor::Of<float>({1, 2}, {1, 1});
  EXPECT_TRUE(session.SetInput("x", x).ok());
  EXPECT_TRUE(session.Run().ok());
  const auto y = session.GetOutput(0);
  EXPECT_TRUE(y.ok()) << y.status();
  const auto values = (*y)->data<float>();
  return {values.begin(), values.end()};
}

TEST(OnnxFileTest, WhatASessionLearnedIsReadBack) {
  const Module module = Doubling();
  const auto session = SessionOf(module.Clone());
  ASSERT_TRUE(session->Run().ok());
  const auto w = session->ReadVariable("w");
  ASSERT_TRUE(w.ok()) << w.status();
  const std::string path = testing::TempDir() + "/learned.onnx";
  const absl::Status written =
      WriteOnnx(module, "evaluate", path, {{"w", &*w}});
  ASSERT_TRUE(written.ok()) << written;

  ASSERT_TRUE(session->UseEntry("evaluate").ok());
  EXPECT_EQ(Outputs(*session), (std::vector<float>{8, 4}));
  absl::StatusOr<Module> read = ImportOnnx(path, {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Outputs(*SessionOf(*std::move(read))), (std::vector<float>{8, 4}));
  EXPECT_FALSE(std::filesystem::exists(path + ".data"));
}

// Overwrites `model`, which has a file of weights beside it.
bool WeightsStayBeside(const std::string& model) {
  const std::string path = testing::TempDir() + "/smaller.onnx";
  std::ofstream(path) << model;
  std::ofstream(path + ".data") << "weights";
  const absl::Status written = WriteOnnx(Doubling(), "evaluate", path);
  EXPECT_TRUE(written.ok()) << written;
  return std::filesystem::exists(path + ".data");
}

TEST(OnnxFileTest, WeightsOfALargerModelGoWithIt) {
  EXPECT_FALSE(WeightsStayBeside("a model that refers to smaller.onnx.data"));
  EXPECT_TRUE(WeightsStayBeside("a model of its own"));
}

TEST(OnnxFileTest, AFolderThatIsNotThereIsNamed) {
  const absl::Status written =
      WriteOnnx(Doubling(), "evaluate", "/nowhere/at/all.onnx");
  EXPECT_TRUE(absl::StartsWith(written.message(),
                               "/nowhere/at/all.onnx: cannot be created: "))
      << written;
}

}  // namespace
}  // namespace partita
