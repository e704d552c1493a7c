// A trained network, exported to ONNX and read back, gives the same answers as
// in its training.
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
#include "graph/ops/op_set.h"
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

// Images, or tokens and labels, for all inputs of the entry in use.
void SetInputs(Session& session, uint64_t seed) {
  for (int i = 0; i < session.num_inputs(); ++i) {
    const TensorType& type = session.input_type(i);
    const double high = type.dtype == DType::kF32 ? 1 : 9;
    ASSERT_TRUE(
        session.SetInput(i, RandomTensor(type, seed + i, 0, high)).ok());
  }
}

std::vector<float> LogProbabilities(Session& session) {
  SetInputs(session, 3);
  EXPECT_TRUE(session.Run().ok());
  const auto output = session.GetOutput("log_probabilities");
  EXPECT_TRUE(output.ok()) << output.status();
  const auto values = (*output)->data<float>();
  return {values.begin(), values.end()};
}

void TrainTwoSteps(Session& session) {
  ASSERT_TRUE(session.UseEntry("train").ok());
  SetInputs(session, 1);
  for (int step = 0; step < 2; ++step) ASSERT_TRUE(session.Run().ok());
  ASSERT_TRUE(session.UseEntry("evaluate").ok());
}

void ExpectReadBackAlike(const absl::StatusOr<Module>& module,
                         const std::string& strategy, int devices) {
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string path =
      absl::StrCat(testing::TempDir(), "/", getpid(), strategy, ".onnx");
  unlink(path.c_str());
  ASSERT_TRUE(CheckExport({*module}, path).ok());
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  const auto session = SessionOf(module->Clone(), strategy, devices);
  ASSERT_TRUE(session->UseEntry("evaluate").ok());
  const std::vector<float> untrained = LogProbabilities(*session);
  TrainTwoSteps(*session);
  const std::vector<float> trained = LogProbabilities(*session);
  EXPECT_NE(trained, untrained);

  const absl::Status written = ExportEvaluation({*module}, *session, path);
  ASSERT_TRUE(written.ok()) << written;
  absl::StatusOr<Module> read = ImportOnnx(path, {});
  ASSERT_TRUE(read.ok()) << read.status();
  const auto again = SessionOf(*std::move(read), "single", 1);
  const std::vector<float> exported = LogProbabilities(*again);
  ASSERT_EQ(exported.size(), trained.size());
  for (size_t i = 0; i < exported.size(); ++i) {
    // Kernels for other shapes round sums differently.
    EXPECT_NEAR(exported[i], trained[i], 1e-5 + 1e-6 * std::abs(trained[i]))
        << "element " << i;
  }
}

absl::StatusOr<Module> Mnist() {
  return MnistTraining(
      {.batch = kBatch, .update = {.schedule = {.learning_rate = 0.1}}});
}

TEST(ExportedEvaluation, OneDeviceGivesTheSame) {
  ExpectReadBackAlike(Mnist(), "single", 1);
}

TEST(ExportedEvaluation, ReplicasGiveTheSame) {
  ExpectReadBackAlike(Mnist(), "data", 2);
}

TEST(ExportedEvaluation, EveryExampleGivesTheSame) {
  ExpectReadBackAlike(
      ResNet18Training({.batch = kBatch, .image = 8, .width = 8}), "single", 1);
  ExpectReadBackAlike(GptTraining({.batch = kBatch,
                                   .layers = 2,
                                   .width = 16,
                                   .heads = 2,
                                   .context = 8,
                                   .vocabulary = 16}),
                      "single", 1);
  ExpectReadBackAlike(
      LstmTraining(
          {.batch = kBatch, .width = 16, .context = 6, .vocabulary = 16}),
      "single", 1);
}

TEST(ExportedEvaluation, WhatCannotBeWrittenIsReportedBeforeTheFirstStep) {
  const Module trained = *Mnist();
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
