// Models compiled for GPUs, in sessions on emulated ones: the whole chain.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "graph/builder/examples/models.h"
#include "graph/device_kind_traits.h"
#include "gtest/gtest.h"
#include "kernels/gpu/ptx_catalog.h"
#include "partita/backends/backend.h"
#include "partita/partita.h"
#include "tests/gpu/emulated_machine.h"

namespace partita {
namespace {

using emulated_gpu::AllPeers;
using emulated_gpu::Order;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr int64_t kGpuMemory = int64_t{1} << 28;

std::shared_ptr<const Plan> PlanOf(absl::StatusOr<Module> module, int gpus,
                                   const CompileOptions& options) {
  EXPECT_TRUE(module.ok()) << module.status();
  auto compiled =
      Compile(*std::move(module), NewGpus(gpus, kGpuMemory), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return std::make_shared<const Plan>(std::move(compiled->plan));
}

int PtxNodes(const Plan& plan) {
  int nodes = 0;
  for (const OpView& node : plan.entries[0].graph->ops()) {
    nodes += HasPtxKernel(node) ? 1 : 0;
  }
  return nodes;
}

HostTensor InputOf(const Session& session, float step = 0.3f) {
  HostTensor input(session.input_type(0));
  float* const values = input.data<float>().data();
  for (int64_t i = 0; i < input.type().num_elements(); ++i) {
    values[i] = std::sin(step * static_cast<float>(i));
  }
  return input;
}

// Two steps of a session on a machine of its own.
void ExpectReferenceBits(const std::shared_ptr<const Plan>& plan,
                         const emulated_gpu::EmulatedGpuOptions& options) {
  EmulatedMachine machine(options);
  {
    auto session = Session::Create(plan);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->notice(), "");
    ASSERT_TRUE((*session)->SetInput(0, InputOf(**session)).ok());
    const auto reference = (*session)->RunReference();
    ASSERT_TRUE(reference.ok()) << reference.status();
    for (int step = 0; step < 2; ++step) {
      const absl::Status run = (*session)->Run();
      ASSERT_TRUE(run.ok()) << run;
      EXPECT_TRUE((*(*session)->GetOutput(0))->byte_span() ==
                  (*reference)[0].byte_span())
          << "step " << step;
    }
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

void ExpectReferenceBits(absl::StatusOr<Module> module, int gpus,
                         const CompileOptions& options) {
  const auto plan = PlanOf(std::move(module), gpus, options);
  EXPECT_GT(PtxNodes(*plan), 0);
  constexpr Order kOrders[] = {Order::kRandom, Order::kLateWaits,
                               Order::kStarveOneStream};
  for (uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    ExpectReferenceBits(plan, {.gpus = gpus,
                               .bytes_per_gpu = 2 * kGpuMemory,
                               .peers = AllPeers(gpus),
                               .seed = seed,
                               .order = kOrders[seed]});
  }
}

const PerceptronOptions kPerceptron = {
    .batch = 8, .inputs = 20, .hidden = 12, .classes = 5};

TEST(EmulatedSessions, APerceptronOnOneGpu) {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  ExpectReferenceBits(TwoLayerPerceptron(kPerceptron), 1, options);
}

TEST(EmulatedSessions, APerceptronWithItsBatchOverTwoGpus) {
  CompileOptions options;
  options.strategy = "data";
  ExpectReferenceBits(TwoLayerPerceptron(kPerceptron), 2, options);
}

TEST(EmulatedSessions, AConvolutionNetInTwoStages) {
  CompileOptions options;
  options.strategy = "pipeline";
  options.planner.stages = 2;
  ExpectReferenceBits(SmallConvNet({.batch = 1, .image = 8, .channels = 4}), 2,
                      options);
}

// Loads a session, runs some steps with inputs of its own, and ends it.
void RunSession(const std::shared_ptr<const Plan>& plan, float input_step) {
  auto session = Session::Create(plan);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->SetInput(0, InputOf(**session, input_step)).ok());
  const auto reference = (*session)->RunReference();
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (int step = 0; step < 3; ++step) {
    const absl::Status run = (*session)->Run();
    ASSERT_TRUE(run.ok()) << run;
    EXPECT_TRUE((*(*session)->GetOutput(0))->byte_span() ==
                (*reference)[0].byte_span())
        << "step " << step;
  }
}

TEST(EmulatedSessions, TwoThreadsShareAGpu) {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  const auto plan = PlanOf(TwoLayerPerceptron(kPerceptron), 1, options);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    EmulatedMachine machine({.bytes_per_gpu = 2 * kGpuMemory,
                             .seed = seed,
                             .order = OrderOf(seed)});
    std::thread other([&] { RunSession(plan, 0.7f); });
    RunSession(plan, 0.3f);
    other.join();
    EXPECT_THAT(machine.Faults(), IsEmpty());
  }
}

TEST(EmulatedSessions, WithoutTheGpusThePlanIsForAnotherMachine) {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  const auto plan = PlanOf(TwoLayerPerceptron(kPerceptron), 1, options);
  EmulatedMachine machine({.gpus = 0});
  const absl::Status status = Session::Create(plan).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()),
              StartsWith("plan @mlp is for another machine than this host; let "
                         "this host emulate its devices (--virtual), or "
                         "compile the model for this host\n  gpu:0: found no "
                         "usable GPU (cuInit: CUDA_ERROR_NO_DEVICE (100)"));
  EXPECT_TRUE(Session::Create(plan, {.devices = DeviceMode::kVirtual}).ok());
}

TEST(EmulatedSessions, AVariableMakesLaunchesBlock) {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  const auto plan = PlanOf(TwoLayerPerceptron(kPerceptron), 1, options);
  EmulatedMachine machine({.bytes_per_gpu = 2 * kGpuMemory});
  const auto load_with = [&](const char* value) {
    setenv("PARTITA_LAUNCH_BLOCKING", value, /*overwrite=*/1);
    auto session = Session::Create(plan);
    unsetenv("PARTITA_LAUNCH_BLOCKING");
    return session;
  };
  for (const char* off : {"", "0"}) {
    const auto session = load_with(off);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->Launches()[0].graphs, 1);
  }
  const auto blocking = load_with("1");
  ASSERT_TRUE(blocking.ok()) << blocking.status();
  EXPECT_EQ((*blocking)->Launches()[0].graphs, 0);
  EXPECT_EQ((*blocking)->Launches()[0].why_no_graphs,
            "PARTITA_LAUNCH_BLOCKING is set");
  EXPECT_EQ(load_with("yes").status(),
            absl::InvalidArgumentError(
                "PARTITA_LAUNCH_BLOCKING: found yes; expected 0 or 1; set it "
                "to one of them, or unset it"));
}

TEST(EmulatedSessions, AGpuNeedsANumber) {
  EmulatedMachine machine({});
  DeviceTraits traits;
  traits.name = "fast";
  EXPECT_EQ(BackendOf(DeviceKind::kCuda).new_device(traits, {}).status(),
            absl::InvalidArgumentError(
                "device fast: found a GPU without a number; expected a name "
                "as gpu:0; name it so in the machine file"));
}

TEST(EmulatedSessions, MoreThanIsFreeIsRefusedWithThePlansFigures) {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  const auto plan =
      PlanOf(TwoLayerPerceptron({.batch = 1024, .inputs = 2048}), 1, options);
  EmulatedMachine machine({.bytes_per_gpu = 4 << 20});
  const absl::Status status = Session::Create(plan).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected at most the 4194304 bytes that are free of "
                        "its 4194304"));
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

// Predictions let steps overlap on kinds of devices whose steps do.
TEST(EmulatedSessions, PredictionsKnowThatGpusDoNotOverlapSteps) {
  EmulatedMachine machine({});
  {
    DeviceTraits gpu;
    gpu.name = "gpu:0";
    gpu.kind = DeviceKind::kCuda;
    gpu.isa = "sm_90";
    const auto device = BackendOf(DeviceKind::kCuda).new_device(gpu, {});
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->properties().runs_behind_host,
              !TraitsOf(DeviceKind::kCuda).overlaps_steps);
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

}  // namespace
}  // namespace partita
