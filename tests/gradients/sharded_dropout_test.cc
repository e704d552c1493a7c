// Random numbers depend on the index in the whole tensor: a dropout sharded
// over two devices drops the same elements as on one.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>
#include <vector>

#include "graph/builder/dropout.h"
#include "graph/builder/ops.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

// A dropout in the scope "drop", with a counter of steps.
Module DropoutModule() {
  GraphBuilder b("f");
  const Randomness random = RandomOfSteps(b, 5, CountSteps(b));
  const Tensor x = b.Input("x", DType::kF32, {7, 9});
  const GraphBuilder::Scope scope(b, "drop");
  b.Output("y", Dropout(x, 0.5, random));
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

HostTensor Ones() {
  HostTensor ones({DType::kF32, {7, 9}, {}});
  for (float& x : ones.data<float>()) x = 1;
  return ones;
}

// y of three steps, with the dropout sharded along this dimension, if any.
Numbers Outputs(int dim) {
  CompileOptions options;
  options.strategy = dim < 0 ? "single" : "list";
  if (dim >= 0) options.pins = {{"drop", {"gpu:0", "gpu:1"}, dim}};
  const auto session = TrainingSession(
      DropoutModule(), CpuAndGpus(2, int64_t{1} << 20), options);
  if (session == nullptr) return {};
  std::vector<HostTensor> inputs;
  inputs.push_back(Ones());
  Numbers outputs;
  for (int step = 0; step < 3; ++step) {
    const Numbers y = CheckedStep(*session, step, inputs);
    outputs.insert(outputs.end(), y.begin(), y.end());
  }
  return outputs;
}

TEST(ShardedDropout, DropsWhatItDropsOnOneDevice) {
  const Module module = DropoutModule();
  State state(module);
  std::vector<HostTensor> inputs;
  inputs.push_back(Ones());
  Numbers expected;
  for (int step = 0; step < 3; ++step) {
    const Numbers y = ToNumbers(state.Step(module.main(), inputs));
    expected.insert(expected.end(), y.begin(), y.end());
  }
  for (int dim : {-1, 0, 1}) {
    EXPECT_EQ(Outputs(dim), expected) << "along dimension " << dim;
  }
}

}  // namespace
}  // namespace partita
