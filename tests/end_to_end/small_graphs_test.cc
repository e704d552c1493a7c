// Regressions in graphs of a few lines: values of zero bytes, and NaN
// attributes.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "graph/evaluate.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

using Floats = std::vector<float>;

std::unique_ptr<Session> SessionOf(const std::string& text,
                                   const CompileOptions& options) {
  auto module = ParseModule(text, "f", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  auto compiled =
      Compile(*std::move(module), EqualCpus(1, int64_t{1} << 28), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  auto session =
      Session::Create(std::make_shared<Plan>(std::move(compiled->plan)));
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

Floats FloatsOf(const HostTensor& tensor) {
  const auto elements = tensor.data<float>();
  return {elements.begin(), elements.end()};
}

// The outputs of a step, compared with the reference. Floats are copied into
// the inputs.
std::vector<Floats> Outputs(const std::string& text,
                            std::vector<HostTensor> inputs,
                            const CompileOptions& options = {}) {
  const auto session = SessionOf(text, options);
  std::vector<Floats> outputs;
  if (session == nullptr) return outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE(session->SetInput(static_cast<int>(i), inputs[i]).ok());
  }
  auto reference = session->RunReference();
  EXPECT_TRUE(reference.ok()) << reference.status();
  const absl::Status run = session->Run();
  EXPECT_TRUE(run.ok()) << run;
  if (!run.ok() || !reference.ok()) return outputs;
  for (int i = 0; i < session->num_outputs(); ++i) {
    const HostTensor& found = **session->GetOutput(i);
    EXPECT_TRUE(found.byte_span() == (*reference)[i].byte_span()) << i;
    outputs.push_back(FloatsOf(found));
  }
  return outputs;
}

HostTensor Zeros(Shape dims) {
  return HostTensor(TensorType{DType::kF32, std::move(dims), {}});
}

const Floats kRows = {1, 2, 3, 1, 2, 3};

std::string ProductOfNothing(const std::string& constants) {
  return "graph @main(%x: f32[2, 0], %w: f32[2, 3]) -> (f32[2, 3], f32[2, 3]) "
         "{\n" +
         constants +
         "  %t = matmul %x, %z : f32[2, 3]\n"
         "  %y = add %w, %c : f32[2, 3]\n"
         "  return %t, %y\n}\n";
}

std::vector<HostTensor> NoColumns() {
  std::vector<HostTensor> inputs;
  inputs.push_back(Zeros({2, 0}));
  inputs.push_back(Zeros({2, 3}));
  return inputs;
}

TEST(EmptyValues, DoNotOverwriteTheNextConstant) {
  const std::string empty = "  %z = constant f32[0, 3] []\n";
  const std::string rows = "  %c = constant f32[3] [1, 2, 3]\n";
  const std::vector<Floats> expected = {Floats(6, 0), kRows};
  EXPECT_EQ(Outputs(ProductOfNothing(empty + rows), NoColumns()), expected);
  EXPECT_EQ(Outputs(ProductOfNothing(rows + empty), NoColumns()), expected);
}

TEST(EmptyValues, OnlyViewedAreIgnoredByTheReference) {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({2, 3}, kRows));
  EXPECT_EQ(Outputs("graph @main(%x: f32[2, 3]) -> f32[2, 3] {\n"
                    "  %z = constant f32[2, 0] []\n"
                    "  %y = concat %z, %x {axis = 1} : f32[2, 3]\n"
                    "  return %y\n}\n",
                    std::move(inputs)),
            std::vector<Floats>{kRows});
}

// A graph with this many rows: besides %x, values of zero bytes that are only
// moved, multiplied, gathered without indices or not read.
std::string RowsBesideEmptyValues(const std::string& rows) {
  return absl::StrReplaceAll(
      R"(graph @main(%x: f32[N, 3], %e: f32[N, 0]) -> (f32[N, 3], f32[N, 0],
    f32[N, 3], f32[N, 0], f32[N, 0]) {
  %y = relu %x : f32[N, 3]
  %z = relu %e : f32[N, 0]
  %w = constant f32[0, 3] []
  %c = constant f32[3] [1, 2, 3]
  %p = matmul %e, %w : f32[N, 3]
  %b = add %p, %c : f32[N, 3]
  %i = constant i32[0] []
  %g = gather %x, %i {axis = 1} : f32[N, 0]
  return %y, %z, %b, %g, %e as m
}
)",
      {{"N", rows}});
}

TEST(EmptyValues, OfMicroBatchesExistWithoutBytes) {
  for (int micro_batches : {1, 2, 4}) {
    SCOPED_TRACE(micro_batches);
    std::vector<HostTensor> inputs;
    inputs.push_back(HostTensor::Of<float>(
        {4, 3}, {-1, 2, 3, 4, -5, 6, 7, 8, -9, -10, 11, 12}));
    inputs.push_back(Zeros({4, 0}));
    CompileOptions options;
    options.micro_batches = micro_batches;
    const std::vector<Floats> expected = {
        {0, 2, 3, 4, 0, 6, 7, 8, 0, 0, 11, 12},
        {},
        {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3},
        {},
        {}};
    EXPECT_EQ(Outputs(RowsBesideEmptyValues("4"), std::move(inputs), options),
              expected);
  }
}

TEST(NanAttributes, AreEqualByTheirBits) {
  for (const std::string op :
       {"clip %x {max = nan, min = 0}", "leaky_relu %x {alpha = nan}",
        "elu %x {alpha = -nan}", "hard_sigmoid %x {alpha = nan}",
        "pad %x {after = [0], before = [0], value = nan}"}) {
    SCOPED_TRACE(op);
    const std::string text =
        "graph @main(%x: f32[5]) -> f32[5] {\n  %y = " + op +
        " : f32[5]\n  return %y\n}\n";
    auto module = ParseModule(text, "f", OpSet::BuiltIn());
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<HostTensor> inputs;
    inputs.push_back(HostTensor::Of<float>({5}, {-2, -1, 0, 1, 2}));
    auto values = Evaluate(module->main(), inputs);
    ASSERT_TRUE(values.ok()) << values.status();
    const Floats expected = FloatsOf((*values)[0]);
    const std::vector<Floats> found = Outputs(text, std::move(inputs));
    ASSERT_EQ(found.size(), 1u);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(found[0][i] == expected[i] ||
                  (std::isnan(found[0][i]) && std::isnan(expected[i])))
          << i << ": " << found[0][i] << " for " << expected[i];
    }
  }
}

TEST(ComparisonsOfNan, ThresholdedReluAndShrinkGiveZero) {
  std::vector<HostTensor> inputs;
  inputs.push_back(
      HostTensor::Of<float>({5}, {NAN, -INFINITY, INFINITY, 0.25f, 2}));
  EXPECT_EQ(Outputs("graph @main(%x: f32[5]) -> (f32[5], f32[5]) {\n"
                    "  %y = thresholded_relu %x : f32[5]\n"
                    "  %z = shrink %x {bias = 0.5} : f32[5]\n"
                    "  return %y, %z\n}\n",
                    std::move(inputs)),
            (std::vector<Floats>{{0, 0, INFINITY, 0, 2},
                                 {0, -INFINITY, INFINITY, 0, 1.5f}}));
}

// 10 by 0.7 and 15 by 1.2 in f32, as in ONNX Runtime 1.32.
TEST(ResizeByScales, ReadsWhatOnnxRuntimeReads) {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(
      Outputs("graph @main(%x: f32[10]) -> f32[7] {\n"
              "  %y = resize %x {coordinates = \"asymmetric\", nearest = "
              "\"floor\", scales = [0.699999988079071], sizes = [7]} : f32[7]\n"
              "  return %y\n}\n",
              std::move(inputs)),
      (std::vector<Floats>{{0, 1, 2, 4, 5, 7, 8}}));
}

}  // namespace
}  // namespace partita
