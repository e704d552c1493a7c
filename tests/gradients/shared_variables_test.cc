// Functions of one module that share variables: with every strategy each finds
// a variable where the others store it, whatever its own batch.
// SPDX-License-Identifier: Apache-2.0

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr int kLayers = 5;
// In the forward pass the first layer has the most work; in training the least,
// since it needs no gradient of its input. So each function alone would be
// split into two stages at another layer.
constexpr int64_t kWidths[kLayers + 1] = {84, 64, 64, 64, 64, 64};
constexpr int kSteps = 3;

// Examples of a step of each function.
struct Batches {
  int64_t train = 0;
  int64_t evaluate = 0;
};

std::string WeightName(int layer) { return absl::StrCat("w", layer); }

HostTensor WeightOf(int layer) {
  HostTensor weight = Drawn({kWidths[layer], kWidths[layer + 1]}, layer);
  for (double& element : weight.data<double>()) element /= 16;
  return weight;
}

Tensor Network(GraphBuilder& b, Tensor x) {
  for (int layer = 0; layer < kLayers; ++layer) {
    x = MatMul(x, b.ReadVariable(WeightName(layer)));
    if (layer + 1 < kLayers) x = Relu(x);
  }
  return x;
}

// @evaluate(%x) -> %y, with many more operations than @train(%x, %target) ->
// %loss if its batch has, but without an influence on where variables are.
Module TwoFunctions(const Batches& batches) {
  GraphBuilder b("train");
  for (int layer = 0; layer < kLayers; ++layer) {
    b.Variable(WeightName(layer), WeightOf(layer));
  }
  const Tensor y =
      Network(b, b.Input("x", DType::kF64, {batches.train, kWidths[0]}));
  const Tensor loss = MseLoss(
      y, b.Input("target", DType::kF64, {batches.train, kWidths[kLayers]}));
  Sgd(b.Gradients(loss), b.Scalar(DType::kF64, 0.1));
  b.Output("loss", loss);
  b.BeginFunction("evaluate");
  b.Output("y", Network(b, b.Input("x", DType::kF64,
                                   {batches.evaluate, kWidths[0]})));
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::unique_ptr<Session> SessionOf(const Batches& batches, int devices,
                                   const CompileOptions& options) {
  return TrainingSession(TwoFunctions(batches),
                         EqualCpus(devices, int64_t{1} << 24), options);
}

// The steps' losses, and the result of an evaluation after them.
Numbers TrainAndEvaluate(Session& session, const Batches& batches) {
  Numbers all;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<HostTensor> inputs;
    inputs.push_back(Drawn({batches.train, kWidths[0]}, step));
    inputs.push_back(Drawn({batches.train, kWidths[kLayers]}, 9 + step));
    absl::c_copy(CheckedStep(session, step, inputs), std::back_inserter(all));
  }
  EXPECT_TRUE(session.UseEntry("evaluate").ok());
  std::vector<HostTensor> inputs;
  inputs.push_back(Drawn({batches.evaluate, kWidths[0]}, 20));
  absl::c_copy(CheckedStep(session, kSteps, inputs), std::back_inserter(all));
  return all;
}

void ExpectAsOnOneDevice(const Batches& batches, int devices,
                         const CompileOptions& options) {
  SCOPED_TRACE(absl::StrCat(
      options.strategy, " of ", batches.train, " and ", batches.evaluate,
      " examples, ", options.micro_batches.value_or(1), " micro-batches"));
  CompileOptions one_device;
  one_device.strategy = "single";
  one_device.micro_batches = options.micro_batches;
  const auto one = SessionOf(batches, 1, one_device);
  const auto several = SessionOf(batches, devices, options);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(several, nullptr);
  ExpectNear(TrainAndEvaluate(*several, batches),
             TrainAndEvaluate(*one, batches));
}

// Copies of variables to devices that do not store them.
int CopiedVariables(const Graph& placed) {
  return static_cast<int>(
      absl::c_count_if(placed.ops(kCopy), [&](const OpView& copy) {
        const auto source = copy.operand(0).defining_op();
        return source.has_value() && source->is(kVariable);
      }));
}

// Those that compute.
std::vector<std::string> DevicesOf(const Graph& placed) {
  std::vector<std::string> devices;
  for (const OpView& op : placed.ops()) {
    if (op.is(kVariable) || op.is(kConstant)) continue;
    for (const std::string& device : op.node().placement.devices) {
      if (!absl::c_linear_search(devices, device)) devices.push_back(device);
    }
  }
  absl::c_sort(devices);
  return devices;
}

TEST(SharedVariables, AllFunctionsHaveTheSameStages) {
  for (const int micro_batches : {1, 4}) {
    CompileOptions options;
    options.strategy = "pipeline";
    options.planner.stages = 2;
    options.micro_batches = micro_batches;
    for (const Batches& batches : {Batches{64, 64}, Batches{64, 256}}) {
      ExpectAsOnOneDevice(batches, 2, options);
      const auto session = SessionOf(batches, 2, options);
      ASSERT_NE(session, nullptr);
      const Graph& evaluate = *session->plan().module.FindFunction("evaluate");
      EXPECT_EQ(CopiedVariables(evaluate), 0);
      EXPECT_EQ(DevicesOf(evaluate),
                (std::vector<std::string>{"cpu:0", "cpu:1"}));
    }
  }
}

TEST(SharedVariables, EachFunctionShardsItsOwnBatch) {
  CompileOptions options;
  options.strategy = "data";
  // More examples than devices or fewer, in either function.
  for (const Batches& batches : {Batches{64, 100}, Batches{5, 3}, Batches{6, 1},
                                 Batches{2, 9}, Batches{1, 4}}) {
    ExpectAsOnOneDevice(batches, 4, options);
  }
  // Micro-batches with as many examples as devices, with more and with fewer.
  options.micro_batches = 4;
  for (const Batches& batches :
       {Batches{64, 100}, Batches{16, 12}, Batches{8, 4}}) {
    ExpectAsOnOneDevice(batches, 4, options);
  }
}

TEST(SharedVariables, AFunctionHasNoMoreReplicasThanExamples) {
  CompileOptions options;
  options.strategy = "data";
  const auto devices_of = [&](const Batches& batches, const char* function) {
    const auto session = SessionOf(batches, 4, options);
    return session == nullptr
               ? size_t{0}
               : DevicesOf(*session->plan().module.FindFunction(function))
                     .size();
  };
  EXPECT_EQ(devices_of({64, 3}, "train"), 4u);
  EXPECT_EQ(devices_of({64, 3}, "evaluate"), 3u);
  // Variables are on two devices.
  EXPECT_EQ(devices_of({2, 9}, "train"), 2u);
  EXPECT_EQ(devices_of({2, 9}, "evaluate"), 2u);
}

TEST(SharedVariables, OtherStrategiesKeepThemTogetherToo) {
  for (const char* strategy : {"single", "list", "auto"}) {
    CompileOptions options;
    options.strategy = strategy;
    ExpectAsOnOneDevice({8, 32}, 3, options);
  }
  CompileOptions pinned;
  pinned.strategy = "pinned";
  pinned.pins = {{"w0", {"cpu:1"}}, {"w3", {"cpu:2"}}};
  ExpectAsOnOneDevice({8, 32}, 3, pinned);
}

}  // namespace
}  // namespace partita
