// One emulated GPU in place of several devices of a plan.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "runtime/device/cuda/cuda_device.h"
#include "tests/gpu/emulated_machine.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

using emulated_gpu::AllPeers;
using emulated_gpu::EmulatedGpuOptions;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGpuMemory = int64_t{1} << 26;
constexpr int kDevices = 4;

DeviceTraits Gpu(int number) {
  DeviceTraits traits;
  traits.name = absl::StrCat("gpu:", number);
  traits.kind = DeviceKind::kCuda;
  traits.isa = "sm_90";
  return traits;
}

std::shared_ptr<const Plan> PlanOf(const char* strategy,
                                   absl::StatusOr<Module> module) {
  CompileOptions options;
  options.strategy = strategy;
  if (options.strategy == "data") options.planner.replicas = kDevices;
  if (options.strategy == "pipeline") options.planner.stages = kDevices;
  EXPECT_TRUE(module.ok()) << module.status();
  auto compiled =
      Compile(*std::move(module), NewGpus(kDevices, kGpuMemory), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(compiled->plan.devices.size(), static_cast<size_t>(kDevices));
  return std::make_shared<const Plan>(std::move(compiled->plan));
}

// Two steps of four devices on fewer GPUs; each GPU has room for its shares.
void ExpectReferenceBits(const std::shared_ptr<const Plan>& plan, int gpus,
                         uint64_t seed) {
  SCOPED_TRACE(absl::StrCat(gpus, " GPUs, seed ", seed));
  const int shares = kDevices / gpus;
  EmulatedMachine machine({.gpus = gpus,
                           .bytes_per_gpu = 2 * kGpuMemory * shares,
                           .peers = AllPeers(gpus),
                           .seed = seed,
                           .order = OrderOf(seed)});
  {
    auto session = Session::Create(plan, {.split_gpu = shares});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->notice(),
              absl::StrCat(shares,
                           " devices share each GPU: times are not those of as "
                           "many GPUs"));
    for (int i = 0; i < (*session)->num_inputs(); ++i) {
      ASSERT_TRUE((*session)
                      ->SetInput(i, RandomTensor((*session)->input_type(i),
                                                 /*seed=*/i + 1, 0, 4))
                      .ok());
    }
    for (int step = 0; step < 2; ++step) {
      const auto reference = (*session)->RunReference();
      ASSERT_TRUE(reference.ok()) << reference.status();
      const absl::Status run = (*session)->Run();
      ASSERT_TRUE(run.ok()) << run;
      ExpectIsReference(**session, step, *reference);
    }
    if (gpus == 1) {
      EXPECT_EQ(machine.cuda().calls("cuMemcpyPeerAsync"), 0);
    }
    // Each device has its share: what others take is not its own.
    const std::vector<DeviceMemory> use = (*session)->MemoryUse().value();
    for (const DeviceMemory& memory : use) {
      EXPECT_EQ(memory.total, 2 * kGpuMemory);
      EXPECT_EQ(memory.free, memory.total - memory.reserved);
      EXPECT_EQ(memory.outside, memory.reserved - memory.arena);
    }
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

TEST(EmulatedSplit, FourReplicasOnOneGpuAndOnTwo) {
  const auto plan =
      PlanOf("data", MnistTraining({.batch = kDevices, .image = 16}));
  for (const int gpus : {1, 2}) ExpectReferenceBits(plan, gpus, /*seed=*/1);
}

TEST(EmulatedSplit, FourStagesOnOneGpuAndOnTwo) {
  const auto plan = PlanOf(
      "pipeline",
      ResNet18Training({.batch = 2, .image = 8, .classes = 4, .width = 2}));
  for (const int gpus : {1, 2}) ExpectReferenceBits(plan, gpus, /*seed=*/4);
}

TEST(EmulatedSplit, MoreThanAShareIsRefusedByName) {
  // A replica has 2 MiB of weights, 2 MiB of the input, and more.
  const auto plan =
      PlanOf("data", TwoLayerPerceptron({.batch = 1024, .inputs = 2048}));
  EmulatedMachine machine({.bytes_per_gpu = 16 << 20});
  const absl::Status status =
      Session::Create(plan, {.split_gpu = kDevices}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("expected at most the 4194304 bytes that are free of its "
                "4194304 (one of 4 shares of GPU 0): 0 are in use outside the "
                "arena; split the GPU into fewer shares, or compile for shares "
                "of this size (`partita devices --split-gpu`)"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(" bytes on gpu:0, "));
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

TEST(EmulatedSplit, ArenasOfAShareKeepItsLimit) {
  EmulatedMachine machine({.gpus = 2, .bytes_per_gpu = 64 << 20});
  {
    const auto device =
        NewCudaDevice(machine.api(), Gpu(5), 5, {.shares = 4}).value();
    auto arena = device->NewArena(12 << 20, 64);
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_EQ(machine.cuda().allocated().of_gpu[1], 12 << 20);
    EXPECT_EQ(device->Memory().value()->free, 4 << 20);
    EXPECT_EQ(device->NewArena(5 << 20, 64).status(),
              absl::ResourceExhaustedError(
                  "device gpu:5: found an arena of 5242880 bytes; expected at "
                  "most the 4194304 that are free of one of 4 shares of GPU 1, "
                  "which has 16777216"));
    arena->reset();
    EXPECT_TRUE(device->NewArena(16 << 20, 64).ok());
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

TEST(EmulatedSplit, TheGpuOfAShareMustExist) {
  EmulatedMachine machine({.gpus = 1});
  EXPECT_TRUE(NewCudaDevice(machine.api(), Gpu(3), 3, {.shares = 4}).ok());
  EXPECT_EQ(
      NewCudaDevice(machine.api(), Gpu(4), 4, {.shares = 4}).status(),
      absl::UnavailableError(
          "device gpu:4: found 1 GPU; expected a GPU of number 1, from 0 on, "
          "as each stands for 4 devices"));
}

TEST(EmulatedSplit, ASplitIntoNothingIsRefused) {
  const auto plan =
      PlanOf("data", MnistTraining({.batch = kDevices, .image = 16}));
  EmulatedMachine machine({});
  for (const int shares : {0, -1, 65}) {
    EXPECT_EQ(Session::Create(plan, {.split_gpu = shares}).status().message(),
              absl::StrCat("split-gpu: found ", shares, "; expected 1..64"));
  }
}

}  // namespace
}  // namespace partita
