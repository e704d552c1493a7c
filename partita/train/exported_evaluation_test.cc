// A trained network, written as ONNX and read back, tells of the same images
// what it told in its training.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/exported_evaluation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "graph/onnx/import.h"
#include "graph/op_set.h"
#include "graph/text/parser.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kBatch = 4;

std::unique_ptr<Session> SessionOf(Module module, const std::string& strategy,
                                   int devices) {
  CompileOptions options;
  options.strategy = strategy;
  auto compiled =
      Compile(std::move(module), EqualCpus(devices, int64_t{1} << 30), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  auto session =
      Session::Create(std::make_shared<const Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<float> LogProbabilities(Session& session) {
  const HostTensor images =
      RandomTensor(TensorType{DType::kF32, {kBatch, 1, 28, 28}, {}}, 3, -1, 1);
  EXPECT_TRUE(session.SetInput("images", images).ok());
  EXPECT_TRUE(session.Run().ok());
  const auto output = session.GetOutput("log_probabilities");
  EXPECT_TRUE(output.ok()) << output.status();
  const auto values = (*output)->data<float>();
  return {values.begin(), values.end()};
}

void TrainTwoSteps(Session& session) {
  const HostTensor labels = HostTensor::Of<int64_t>({kBatch}, {1, 0, 9, 3});
  const HostTensor images =
      RandomTensor(TensorType{DType::kF32, {kBatch, 1, 28, 28}, {}}, 1, -1, 1);
  ASSERT_TRUE(session.UseEntry("train").ok());
  ASSERT_TRUE(session.SetInput("images", images).ok());
  ASSERT_TRUE(session.SetInput("labels", labels).ok());
  for (int step = 0; step < 2; ++step) ASSERT_TRUE(session.Run().ok());
  ASSERT_TRUE(session.UseEntry("evaluate").ok());
}

void ExpectReadBackAlike(const std::string& strategy, int devices) {
  const Module module = *MnistTraining(
      {.batch = kBatch, .update = {.schedule = {.learning_rate = 0.1}}});
  const std::string path =
      absl::StrCat(testing::TempDir(), "/", getpid(), strategy, ".onnx");
  ASSERT_TRUE(CheckExport({module}, path).ok());
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  const auto session = SessionOf(module.Clone(), strategy, devices);
  ASSERT_TRUE(session->UseEntry("evaluate").ok());
  const std::vector<float> untrained = LogProbabilities(*session);
  TrainTwoSteps(*session);
  const std::vector<float> trained = LogProbabilities(*session);
  EXPECT_NE(trained, untrained);

  const absl::Status written = ExportEvaluation({module}, *session, path);
  ASSERT_TRUE(written.ok()) << written;
  absl::StatusOr<Module> read = ImportOnnx(path, {});
  ASSERT_TRUE(read.ok()) << read.status();
  const auto again = SessionOf(*std::move(read), "single", 1);
  const std::vector<float> told = LogProbabilities(*again);
  ASSERT_EQ(told.size(), trained.size());
  for (size_t i = 0; i < told.size(); ++i) {
    // Kernels that a host has for other shapes round sums otherwise.
    EXPECT_NEAR(told[i], trained[i], 1e-5 + 1e-6 * std::abs(trained[i]))
        << "element " << i;
  }
}

TEST(ExportedEvaluation, OneDeviceToldTheSame) {
  ExpectReadBackAlike("single", 1);
}

TEST(ExportedEvaluation, ReplicasToldTheSame) {
  ExpectReadBackAlike("data", 2);
}

TEST(ExportedEvaluation, WhatCannotBeWrittenIsToldBeforeTheFirstStep) {
  const Module trained = *MnistTraining({.batch = kBatch});
  EXPECT_TRUE(
      absl::StartsWith(CheckExport({trained}, "/nowhere/at/all.onnx").message(),
                       "/nowhere/at/all.onnx: cannot be created: "));
  const absl::StatusOr<Module> bits = ParseModule(R"(
graph @evaluate(%x: i32[2]) -> i32[2] {
  %y = bitwise_not %x : i32[2]
  return %y
}
)",
                                                  "bits", OpSet::BuiltIn());
  ASSERT_TRUE(bits.ok()) << bits.status();
  EXPECT_EQ(CheckExport({*bits}, "/nowhere/at/all.onnx").message(),
            "@evaluate: found 1 node that cannot be exported:\n"
            "  bitwise_not %y: found an op that is not in opset 17 of ONNX; "
            "expected one that is");
}

}  // namespace
}  // namespace partita
