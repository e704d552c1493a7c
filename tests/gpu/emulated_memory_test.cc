// Memory of sessions on emulated GPUs: what the plan states is what the driver
// gives, steps allocate nothing, and ends give all back.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <map>
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
#include "placement/machine/sample_machines.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/plan/plan_layout.h"
#include "tests/gpu/emulated_machine.h"

namespace partita {
namespace {

using emulated_gpu::AllocatedBytes;
using emulated_gpu::AllPeers;
using emulated_gpu::EmulatedGpuOptions;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGpuMemory = int64_t{1} << 28;

struct PlanCase {
  std::string name;
  int gpus;
  Compiled compiled;
};

Compiled CompiledFor(absl::StatusOr<Module> module, const Machine& machine,
                     const CompileOptions& options) {
  EXPECT_TRUE(module.ok()) << module.status();
  auto compiled = Compile(*std::move(module), machine, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *std::move(compiled);
}

CompileOptions OnOneGpu() {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  return options;
}

CompileOptions Replicas(int replicas) {
  CompileOptions options;
  options.strategy = "data";
  options.planner.replicas = replicas;
  return options;
}

CompileOptions Stages(int stages) {
  CompileOptions options;
  options.strategy = "pipeline";
  options.planner.stages = stages;
  return options;
}

// A network's first layer on a CPU, the rest on a GPU.
Compiled CpuAndGpu() {
  Machine machine = CpuAndGpus(1, kGpuMemory);
  machine.devices[1].traits.isa = "sm_90";
  CompileOptions options;
  options.strategy = "pipeline";
  options.planner.stages = 2;
  return CompiledFor(TwoLayerPerceptron({.batch = 8, .inputs = 20}), machine,
                     options);
}

std::vector<PlanCase> NewGpuPlans() {
  std::vector<PlanCase> plans;
  CompileOptions overlapping = OnOneGpu();
  overlapping.depth = 2;
  plans.push_back({"two steps in flight on one GPU", 1,
                   CompiledFor(TwoLayerPerceptron({.batch = 8}),
                               NewGpus(1, kGpuMemory), overlapping)});
  plans.push_back(
      {"two stages", 2,
       CompiledFor(SmallConvNet({.batch = 1, .image = 8, .channels = 4}),
                   NewGpus(2, kGpuMemory), Stages(2))});
  plans.push_back({"training on four GPUs", 4,
                   CompiledFor(MnistTraining({.batch = 4, .image = 16}),
                               NewGpus(4, kGpuMemory), Replicas(4))});
  return plans;
}

// Compiled once.
const std::vector<PlanCase>& GpuPlans() {
  static const auto& plans = *new std::vector<PlanCase>(NewGpuPlans());
  return plans;
}

EmulatedGpuOptions MachineOf(int gpus) {
  return {
      .gpus = gpus, .bytes_per_gpu = 2 * kGpuMemory, .peers = AllPeers(gpus)};
}

std::unique_ptr<Session> SessionOf(const Compiled& compiled,
                                   const LoadOptions& options = {}) {
  // Sessions own their plan: this one outlives them.
  const std::shared_ptr<const Plan> plan(&compiled.plan, [](const Plan*) {});
  auto session = Session::Create(plan, options);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return nullptr;
  for (int i = 0; i < (*session)->num_inputs(); ++i) {
    EXPECT_TRUE((*session)
                    ->SetInput(i, RandomTensor((*session)->input_type(i),
                                               /*seed=*/i + 1, 0, 4))
                    .ok());
  }
  return *std::move(session);
}

// ---- Prediction, from the plan alone.

// Page-locked bytes of a rank's values in its largest collective.
int64_t CollectiveBytes(const Entry& entry, const CommandList& commands) {
  std::map<std::pair<int, int>, int64_t> most;  // by group and stream
  const auto staged = [&](const std::vector<BufferId>& buffers) {
    int64_t bytes = 0;
    for (const BufferId id : buffers) {
      bytes += StagedBytes(entry.buffers[id.index].range.size());
    }
    return bytes;
  };
  for (const Command& command : commands) {
    if (command.kind != Command::Kind::kCollective) continue;
    int64_t& bytes = most[{command.group.index, command.stream.index}];
    bytes = std::max(bytes, staged(command.operands) + staged(command.results));
  }
  int64_t all = 0;
  for (const auto& [rank, bytes] : most) all += bytes;
  return all;
}

// Page-locked bytes of the inputs and outputs of all steps in flight.
int64_t PortBytes(const Entry& entry, const CommandList& commands) {
  int64_t bytes = 0;
  for (const Command& command : commands) {
    const bool feeds = command.kind == Command::Kind::kFeed;
    if (!feeds && command.kind != Command::Kind::kFetch) continue;
    const BufferId buffer = (feeds ? command.results : command.operands)[0];
    bytes += StagedBytes(entry.buffers[buffer.index].range.size());
  }
  return bytes * entry.depth;
}

// Page-locked bytes of the copies between GPUs that are no peers.
int64_t CopiedBytes(const Entry& entry, const CommandList& commands) {
  int64_t bytes = 0;
  for (const Command& command : commands) {
    if (command.kind != Command::Kind::kCopy) continue;
    const Buffer& from = entry.buffers[command.operands[0].index];
    const Buffer& to = entry.buffers[command.results[0].index];
    if (from.device != to.device) bytes += to.range.size();
  }
  return bytes * entry.depth;
}

// Arena::ReservedBytes states the rounding.
int64_t ReservedBytes(const Plan& plan, const PlanDevice& device) {
  const int64_t arena = ArenaBytes(device, PlanDepth(plan));
  if (arena == 0) return 0;
  return arena + std::max<int64_t>(0, device.alignment - 256);
}

// For plans that use GPUs alone.
AllocatedBytes Predicted(const Plan& plan, bool peers) {
  AllocatedBytes predicted;
  for (const PlanDevice& device : plan.devices) {
    predicted.of_gpu.push_back(ReservedBytes(plan, device));
  }
  for (const Entry& entry : plan.entries) {
    const CommandList commands = Expand(entry).value();
    predicted.page_locked += PortBytes(entry, commands) +
                             CollectiveBytes(entry, commands) +
                             (peers ? 0 : CopiedBytes(entry, commands));
  }
  return predicted;
}

// Returns the page-locked bytes.
int64_t ExpectPredicted(const PlanCase& tested, bool peers) {
  SCOPED_TRACE(absl::StrCat(tested.name, ", peers ", peers));
  EmulatedGpuOptions options = MachineOf(tested.gpus);
  if (!peers) options.peers.clear();
  const AllocatedBytes predicted = Predicted(tested.compiled.plan, peers);
  EmulatedMachine machine(options);
  {
    const auto session = SessionOf(tested.compiled);
    if (session == nullptr) return 0;
    const AllocatedBytes allocated = machine.cuda().allocated();
    EXPECT_EQ(allocated.of_gpu, predicted.of_gpu);
    EXPECT_EQ(allocated.page_locked, predicted.page_locked);
    EXPECT_GT(allocated.page_locked, 0);
    // The session and the compiler report the same.
    const std::vector<DeviceMemory> use = session->MemoryUse().value();
    int64_t staging = 0;
    for (size_t d = 0; d < use.size(); ++d) {
      EXPECT_EQ(use[d].arena, tested.compiled.report.devices[d].arena);
      EXPECT_EQ(use[d].reserved, predicted.of_gpu[d]);
      EXPECT_EQ(use[d].total, 2 * kGpuMemory);
      staging += use[d].staging;
    }
    EXPECT_EQ(staging, predicted.page_locked);
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
  return predicted.page_locked;
}

TEST(EmulatedMemory, PredictedIsAllocatedByteForByte) {
  int64_t of_copies = 0;
  for (const PlanCase& tested : GpuPlans()) {
    const int64_t with_peers = ExpectPredicted(tested, /*peers=*/true);
    of_copies += ExpectPredicted(tested, /*peers=*/false) - with_peers;
  }
  EXPECT_GT(of_copies, 0);
}

TEST(EmulatedMemory, ACpuReservesItsArenaAndWhatAlignsIt) {
  CompileOptions options;
  options.strategy = "single";
  const Compiled compiled = CompiledFor(TwoLayerPerceptron({.batch = 8}),
                                        EqualCpus(1, kGpuMemory), options);
  const auto session = SessionOf(compiled, {.devices = DeviceMode::kVirtual});
  ASSERT_NE(session, nullptr);
  const DeviceMemory use = session->MemoryUse().value()[0];
  const PlanDevice& device = compiled.plan.devices[0];
  EXPECT_EQ(use.arena, compiled.report.devices[0].arena);
  EXPECT_EQ(use.reserved,
            use.arena + std::max<int64_t>(device.alignment, 2 << 20));
  EXPECT_EQ(use.staging, 0);
  EXPECT_EQ(use.total, 0);
}

TEST(EmulatedMemory, APeakIsWhatStepsUseOfTheArena) {
  EmulatedMachine machine(MachineOf(1));
  const Compiled compiled = CompiledFor(TwoLayerPerceptron({.batch = 8}),
                                        NewGpus(1, kGpuMemory), OnOneGpu());
  const auto session = SessionOf(compiled);
  ASSERT_NE(session, nullptr);
  DeviceMemory use = session->MemoryUse().value()[0];
  EXPECT_EQ(use.allocated, use.persistent);
  EXPECT_EQ(use.peak, use.persistent);
  ASSERT_TRUE(session->Run().ok());
  use = session->MemoryUse().value()[0];
  EXPECT_EQ(use.allocated, use.persistent);
  EXPECT_GT(use.peak, use.persistent);
  EXPECT_LE(use.peak, use.arena);
}

// ---- Steps and ends.

void ExpectStepsAllocateNothing(const Compiled& compiled, int gpus) {
  EmulatedMachine machine(MachineOf(gpus));
  {
    const auto session = SessionOf(compiled);
    ASSERT_NE(session, nullptr);
    const int64_t before = machine.cuda().allocations();
    EXPECT_GT(before, 0);
    for (int step = 0; step < 3; ++step) {
      const absl::Status run = session->Run();
      ASSERT_TRUE(run.ok()) << run;
      EXPECT_EQ(machine.cuda().allocations(), before) << "step " << step;
    }
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

TEST(EmulatedMemory, StepsAllocateNothing) {
  for (const PlanCase& tested : GpuPlans()) {
    SCOPED_TRACE(tested.name);
    ExpectStepsAllocateNothing(tested.compiled, tested.gpus);
  }
}

TEST(EmulatedMemory, StepsOfACpuAndAGpuAllocateNothing) {
  const Compiled compiled = CpuAndGpu();
  EXPECT_EQ(compiled.plan.devices.size(), 2u);
  ExpectStepsAllocateNothing(compiled, 1);
}

TEST(EmulatedMemory, AnEndedSessionKeepsNothing) {
  const Compiled compiled =
      CompiledFor(MnistTraining({.batch = 2, .image = 16}),
                  NewGpus(2, kGpuMemory), Replicas(2));
  EmulatedMachine machine(MachineOf(2));
  for (int i = 0; i < 2; ++i) {
    {
      const auto session = SessionOf(compiled);
      ASSERT_NE(session, nullptr);
      ASSERT_TRUE(session->Run().ok());
      EXPECT_GT(machine.cuda().allocated().of_gpu[1], 0);
    }
    EXPECT_THAT(machine.cuda().allocated().of_gpu, Each(0));
    EXPECT_EQ(machine.cuda().allocated().page_locked, 0);
    // Neither contexts nor code.
    EXPECT_THAT(machine.Faults(), IsEmpty());
  }
}

// ---- Blocks and their owners.

TEST(EmulatedMemory, ASnapshotAccountsForWeightsStagingAndCode) {
  const PlanCase& tested = GpuPlans().back();
  EmulatedMachine machine(MachineOf(tested.gpus));
  const auto session = SessionOf(tested.compiled);
  ASSERT_NE(session, nullptr);
  const auto snapshots = session->SnapshotMemory();
  ASSERT_TRUE(snapshots.ok()) << snapshots.status();
  ASSERT_EQ(snapshots->size(), 4u);
  for (const MemorySnapshot& snapshot : *snapshots) {
    SCOPED_TRACE(snapshot.memory.device);
    std::map<MemoryKind, int64_t> bytes;
    for (const MemoryBlock& block : snapshot.blocks) {
      SCOPED_TRACE(absl::StrCat(block.entry, " ", block.owners[0]));
      bytes[block.kind] += block.bytes * block.copies;
      if (block.kind == MemoryKind::kVariable ||
          block.kind == MemoryKind::kWeights) {
        EXPECT_EQ(block.entry, "");
        EXPECT_LE(block.offset + block.bytes, snapshot.memory.persistent);
      }
      if (block.kind == MemoryKind::kActivation) {
        EXPECT_GE(block.offset, snapshot.memory.persistent);
        EXPECT_LE(block.offset + block.bytes, snapshot.memory.arena);
        EXPECT_LE(block.first_command, block.last_command);
      }
    }
    EXPECT_GT(bytes[MemoryKind::kVariable], 0);
    EXPECT_GT(bytes[MemoryKind::kActivation], 0);
    EXPECT_EQ(bytes[MemoryKind::kStaging], snapshot.memory.staging);
    EXPECT_GT(bytes[MemoryKind::kCode], 0);
  }
}

// ---- The driver's own figures.

DeviceTraits Gpu(int number) {
  DeviceTraits traits;
  traits.name = absl::StrCat("gpu:", number);
  traits.kind = DeviceKind::kCuda;
  traits.isa = "sm_90";
  return traits;
}

TEST(EmulatedMemory, ADriverThatDoesNotReportItsMemoryIsAnError) {
  EmulatedGpuOptions options = MachineOf(1);
  int64_t before = 0;
  int64_t after = 0;
  {
    EmulatedMachine machine(options);
    const auto device = NewCudaDevice(machine.api(), Gpu(0), 0).value();
    before = machine.cuda().calls();
    EXPECT_TRUE(device->Memory().ok());
    after = machine.cuda().calls();
  }
  ASSERT_LT(before, after);
  for (options.fail_call = before + 1; options.fail_call <= after;
       ++options.fail_call) {
    EmulatedMachine machine(options);
    const auto device = NewCudaDevice(machine.api(), Gpu(0), 0).value();
    const auto figures = device->Memory();
    EXPECT_EQ(figures.status().code(), absl::StatusCode::kInternal)
        << figures.status();
    EXPECT_THAT(std::string(figures.status().message()),
                HasSubstr("device gpu:0: cu"));
  }
}

}  // namespace
}  // namespace partita
