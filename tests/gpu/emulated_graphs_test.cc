// The graphs of steps: they contain the plan's order, and mutated ones are
// refused; what a step allocates, and what its trace holds.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/builder/examples/models.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "tests/gpu/emulated_machine.h"
#include "tests/gpu/graph_proof.h"

namespace partita {
namespace {

using emulated_gpu::AllPeers;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGpuMemory = int64_t{1} << 26;

// A plan on emulated GPUs, loaded. `api` may be the machine's with calls
// replaced.
struct Loaded {
  Loaded(std::shared_ptr<const Plan> plan, const DriverApi& api,
         const ExecutorOptions& options = {}) {
    auto devices = DevicesOf(*plan, api);
    EXPECT_TRUE(devices.ok()) << devices.status();
    auto made = Executor::New(std::move(plan), *std::move(devices),
                              libraries.all, options);
    EXPECT_TRUE(made.ok()) << made.status();
    if (made.ok()) executor = *std::move(made);
  }
  const PlanLibraries libraries;
  std::unique_ptr<Executor> executor;
};

// ---- The plans of models.

struct Case {
  const char* name;
  absl::StatusOr<Module> (*make)();
  int gpus;
  const char* strategy;
  std::optional<int64_t> PlannerOptions::*parts;  // as many as GPUs
  bool host_between;  // collectives, which go through the host
  int depth = 1;
  int micro_batches = 1;
};
std::ostream& operator<<(std::ostream& out, const Case& tested) {
  return out << tested.name;
}

absl::StatusOr<Module> Perceptron() {
  return TwoLayerPerceptron(
      {.batch = 8, .inputs = 20, .hidden = 12, .classes = 5});
}
absl::StatusOr<Module> ConvNet() {
  return SmallConvNet({.batch = 1, .image = 8, .channels = 4});
}
absl::StatusOr<Module> Mnist() {
  return MnistTraining({.batch = 4, .image = 16});
}

constexpr Case kCases[] = {
    {"PerceptronOn1", Perceptron, 1, "single", nullptr, false},
    {"MnistStepOn1", Mnist, 1, "single", nullptr, false},
    {"PipelineOn2", ConvNet, 2, "pipeline", &PlannerOptions::stages, false},
    {"OverlappingPipelineOn2", ConvNet, 2, "pipeline", &PlannerOptions::stages,
     false, 2},
    {"MicroBatchesOn2", Mnist, 2, "pipeline", &PlannerOptions::stages, false, 1,
     2},
    {"MnistStepOn2", Mnist, 2, "data", &PlannerOptions::replicas, true},
    {"MnistStepOn4", Mnist, 4, "data", &PlannerOptions::replicas, true},
};

std::shared_ptr<const Plan> PlanOf(const Case& tested) {
  CompileOptions options;
  options.strategy = tested.strategy;
  options.depth = tested.depth;
  options.micro_batches = tested.micro_batches;
  if (tested.parts != nullptr) {
    options.planner.*tested.parts = tested.gpus;
  } else {
    options.planner.device = "gpu:0";
  }
  auto module = tested.make();
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  auto compiled =
      Compile(*std::move(module), NewGpus(tested.gpus, kGpuMemory), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  return std::make_shared<const Plan>(std::move(compiled->plan));
}

class EmulatedGraphs : public testing::TestWithParam<Case> {};

TEST_P(EmulatedGraphs, ContainThePlansOrderAndItsCommands) {
  const Case& tested = GetParam();
  const std::shared_ptr<const Plan> plan = PlanOf(tested);
  ASSERT_NE(plan, nullptr);
  for (const bool peers : {true, false}) {
    SCOPED_TRACE(absl::StrCat("peers: ", peers));
    emulated_gpu::EmulatedGpuOptions options = {
        .gpus = tested.gpus, .bytes_per_gpu = 2 * kGpuMemory};
    if (peers) options.peers = AllPeers(tested.gpus);
    EmulatedMachine machine(options);
    {
      const Loaded loaded(plan, machine.api());
      ASSERT_NE(loaded.executor, nullptr);
      const auto launches = loaded.executor->Launches();
      ASSERT_FALSE(launches.empty());
      EXPECT_GT(launches[0].in_graphs, 0);
      if (tested.host_between) {
        EXPECT_GT(launches[0].issued, 0);
      } else {
        EXPECT_EQ(launches[0].graphs, 1);
        EXPECT_EQ(launches[0].issued, 0);
      }
      for (size_t e = 0; e < plan->entries.size(); ++e) {
        const absl::Status proof = ProveGraphs(
            loaded.executor->runner(static_cast<int>(e)), machine.api());
        EXPECT_TRUE(proof.ok()) << proof;
      }
    }
    EXPECT_THAT(machine.Faults(), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, EmulatedGraphs, testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

TEST(EmulatedGraphs, AStepIsOneGraphUnlessItNeedsTheHost) {
  EmulatedMachine machine({.gpus = 2, .peers = AllPeers(2)});
  const auto launches_of = [&](std::optional<int> capacity,
                               const ExecutorOptions& options) {
    const Loaded loaded(MatmulSoftmaxPlan(2, capacity).plan, machine.api(),
                        options);
    return loaded.executor->Launches()[0];
  };
  const StepLaunches whole = launches_of({}, {});
  EXPECT_EQ(whole.graphs, 1);
  EXPECT_EQ(whole.in_graphs, 7);
  EXPECT_EQ(whole.issued, 0);
  const StepLaunches with_message = launches_of(1, {});
  EXPECT_EQ(with_message.graphs, 2);
  EXPECT_EQ(with_message.in_graphs, 6);
  EXPECT_EQ(with_message.issued, 2);
  const StepLaunches blocking = launches_of({}, {.launch_blocking = true});
  EXPECT_EQ(blocking.graphs, 0);
  EXPECT_EQ(blocking.issued, 7);
  EXPECT_EQ(blocking.why_no_graphs, "PARTITA_LAUNCH_BLOCKING is set");
  const StepLaunches without = launches_of({}, {.launch_graphs = false});
  EXPECT_EQ(without.graphs, 0);
  EXPECT_EQ(without.issued, 7);
  EXPECT_EQ(without.why_no_graphs, "the session launches no graphs");
}

// ---- Mutants: what adds a node is replaced in the driver's table.

enum class Mutation { kDropEdges, kOtherArgument, kOtherBytes };

struct Mutator {
  const DriverApi* api = nullptr;
  Mutation mutation = Mutation::kDropEdges;
  int node = 0;      // which node of the graph is mutated
  int argument = 0;  // which of its arguments
  int added = 0;     // nodes so far
  bool applied = false;
};
Mutator& TheMutator() {
  static Mutator& mutator = *new Mutator;
  return mutator;
}

// Whether the node that is being added is to be mutated so.
bool Mutates(Mutation mutation, bool possible) {
  Mutator& mutator = TheMutator();
  const bool mutates =
      mutator.added == mutator.node && mutator.mutation == mutation && possible;
  mutator.applied |= mutates;
  return mutates;
}

CUresult AddKernelNode(CUgraphNode* node, CUgraph graph,
                       const CUgraphNode* after, size_t count,
                       const CUDA_KERNEL_NODE_PARAMS* params) {
  Mutator& mutator = TheMutator();
  if (Mutates(Mutation::kDropEdges, count > 0)) count = 0;
  CUDA_KERNEL_NODE_PARAMS mutated = *params;
  if (Mutates(Mutation::kOtherBytes, true)) mutated.gridDimX += 1;
  // The driver copies the values; they are the caller's again afterwards.
  auto& address =
      *static_cast<CUdeviceptr*>(params->kernelParams[mutator.argument]);
  const CUdeviceptr given = address;
  if (Mutates(Mutation::kOtherArgument, true)) address += 64;
  const CUresult result =
      mutator.api->GraphAddKernelNode(node, graph, after, count, &mutated);
  address = given;
  ++mutator.added;
  return result;
}

CUresult AddMemcpyNode(CUgraphNode* node, CUgraph graph,
                       const CUgraphNode* after, size_t count,
                       const CUDA_MEMCPY3D* params, CUcontext context) {
  Mutator& mutator = TheMutator();
  CUDA_MEMCPY3D mutated = *params;
  if (Mutates(Mutation::kDropEdges, count > 0)) count = 0;
  if (Mutates(Mutation::kOtherArgument, true)) {
    (mutator.argument == 0 ? mutated.dstDevice : mutated.srcDevice) += 4;
  }
  if (Mutates(Mutation::kOtherBytes, true)) mutated.WidthInBytes -= 4;
  ++mutator.added;
  return mutator.api->GraphAddMemcpyNode(node, graph, after, count, &mutated,
                                         context);
}

absl::Status ProofOfMutant(const std::shared_ptr<Plan>& plan, bool peers,
                           Mutation mutation, int node, int argument) {
  emulated_gpu::EmulatedGpuOptions options = {.gpus = 2};
  if (peers) options.peers = AllPeers(2);
  EmulatedMachine machine(options);
  DriverApi api = machine.api();
  api.GraphAddKernelNode = AddKernelNode;
  api.GraphAddMemcpyNode = AddMemcpyNode;
  TheMutator() = {.api = &machine.api(),
                  .mutation = mutation,
                  .node = node,
                  .argument = argument};
  const Loaded loaded(plan, api);
  if (loaded.executor == nullptr) return absl::InternalError("not loaded");
  return ProveGraphs(loaded.executor->runner(0), machine.api());
}

// The plan's commands are a chain: each edge and each argument counts.
TEST(EmulatedGraphs, MutatedGraphsAreRefused) {
  const std::shared_ptr<Plan> plan = MatmulSoftmaxPlan(2).plan;
  for (const bool peers : {true, false}) {
    const int nodes = peers ? 7 : 8;  // the copy is one, or goes by the host
    std::map<Mutation, int> mutants;
    for (const Mutation mutation :
         {Mutation::kDropEdges, Mutation::kOtherArgument,
          Mutation::kOtherBytes}) {
      for (int node = 0; node < nodes; ++node) {
        const int arguments = mutation == Mutation::kOtherArgument ? 2 : 1;
        for (int argument = 0; argument < arguments; ++argument) {
          SCOPED_TRACE(absl::StrCat("peers ", peers, ", mutation ",
                                    static_cast<int>(mutation), ", node ", node,
                                    ", argument ", argument));
          const absl::Status proof =
              ProofOfMutant(plan, peers, mutation, node, argument);
          if (!TheMutator().applied) {
            EXPECT_TRUE(proof.ok()) << proof;
            continue;
          }
          ++mutants[mutation];
          EXPECT_TRUE(absl::IsFailedPrecondition(proof)) << proof;
          if (mutation == Mutation::kDropEdges) {
            EXPECT_THAT(std::string(proof.message()),
                        testing::AnyOf(HasSubstr("found no path to command"),
                                       HasSubstr("found its nodes unordered")));
          }
        }
      }
    }
    // The first node has no edges.
    EXPECT_EQ(mutants[Mutation::kDropEdges], nodes - 1);
    EXPECT_EQ(mutants[Mutation::kOtherArgument], 2 * nodes);
    EXPECT_EQ(mutants[Mutation::kOtherBytes], nodes);
  }
}

// ---- Steps.

TEST(EmulatedGraphs, NoStepAllocates) {
  for (const std::optional<int> capacity :
       {std::optional<int>(), std::optional<int>(1)}) {
    const PtxPlan plan = MatmulSoftmaxPlan(2, capacity);
    EmulatedMachine machine({.gpus = 2});
    const Loaded loaded(plan.plan, machine.api());
    ASSERT_NE(loaded.executor, nullptr);
    const int64_t loading = machine.cuda().allocations();
    for (int step = 0; step < 3; ++step) {
      ASSERT_TRUE(RunStep(*loaded.executor, plan.x).ok());
    }
    EXPECT_EQ(machine.cuda().allocations(), loading);
    // The first traced step makes graphs that take times.
    ASSERT_TRUE(RunStep(*loaded.executor, plan.x, {.trace = true}).ok());
    const int64_t traced = machine.cuda().allocations();
    EXPECT_GT(traced, loading);
    ASSERT_TRUE(RunStep(*loaded.executor, plan.x, {.trace = true}).ok());
    EXPECT_EQ(machine.cuda().allocations(), traced);
  }
}

TEST(EmulatedGraphs, ATraceHasTheTimesOfEachCommandInItsGraph) {
  const PtxPlan plan = MatmulSoftmaxPlan(1);
  EmulatedMachine machine({});
  const Loaded loaded(plan.plan, machine.api());
  ASSERT_NE(loaded.executor, nullptr);
  const auto y = RunStep(*loaded.executor, plan.x);
  ASSERT_TRUE(y.ok()) << y.status();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(*RunStep(*loaded.executor, plan.x, {.trace = true}), *y);
    // The commands of this plan end one after the other; a wait starts when its
    // stream gets there. The driver gives times as floats of milliseconds.
    constexpr double kRounding = 1e-5;
    double end = 0;
    for (const MeasuredCommand& command : loaded.executor->LastTrace()) {
      EXPECT_GE(command.start_seconds, 0) << command.command;
      EXPECT_GE(command.end_seconds, command.start_seconds) << command.command;
      EXPECT_GE(command.end_seconds, end - kRounding) << command.command;
      end = command.end_seconds;
    }
    EXPECT_GT(end, 0);
  }
}

// The numbers of graphs that are instantiated when commands are seen.
class InstantiatedGraphs : public CommandObserver {
 public:
  explicit InstantiatedGraphs(EmulatedMachine& cuda) : machine(cuda) {}
  void Before(uint64_t, CommandId) override {
    seen.insert(machine.cuda().calls("cuGraphInstantiate"));
  }
  void After(uint64_t, CommandId) override {}

  EmulatedMachine& machine;
  std::set<int64_t> seen;
};

TEST(EmulatedGraphs, ATracedStepBuildsNoGraphBetweenItsCommands) {
  const PtxPlan plan = MatmulSoftmaxPlan(2, /*capacity=*/1);
  EmulatedMachine machine({.gpus = 2});
  InstantiatedGraphs graphs(machine);
  const Loaded loaded(plan.plan, machine.api(), {.observer = &graphs});
  ASSERT_NE(loaded.executor, nullptr);
  EXPECT_TRUE(RunStep(*loaded.executor, plan.x, {.trace = true}).ok());
  EXPECT_EQ(graphs.seen, std::set<int64_t>{4});  // two, without times and with
}

// Counts the calls for each command.
class CountingObserver : public CommandObserver {
 public:
  void Before(uint64_t, CommandId command) override { ++before[command.index]; }
  void After(uint64_t, CommandId command) override { ++after[command.index]; }

  std::map<int32_t, int> before, after;
};

// The launcher's thread makes all calls: the plan has no other stream.
TEST(EmulatedGraphs, AnObserverSeesEachCommandInAGraph) {
  const PtxPlan plan = MatmulSoftmaxPlan(2);
  EmulatedMachine machine({.gpus = 2, .peers = AllPeers(2)});
  CountingObserver observer;
  {
    const Loaded loaded(plan.plan, machine.api(), {.observer = &observer});
    ASSERT_NE(loaded.executor, nullptr);
    const auto y = RunStep(*loaded.executor, plan.x);
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(loaded.executor->Launches()[0].graphs, 1);
  }
  std::map<int32_t, int> once;
  for (int32_t command = 0; command < 11; ++command) once[command] = 1;
  EXPECT_EQ(observer.before, once);
  EXPECT_EQ(observer.after, once);
}

TEST(EmulatedGraphs, CommandsIssuedOneByOneHaveTheSameBits) {
  const PtxPlan plan = MatmulSoftmaxPlan(2);
  EmulatedMachine machine({.gpus = 2, .peers = AllPeers(2)});
  {
    const Loaded graphs(plan.plan, machine.api());
    const Loaded blocking(plan.plan, machine.api(), {.launch_blocking = true});
    const Loaded without(plan.plan, machine.api(), {.launch_graphs = false});
    ASSERT_TRUE(graphs.executor != nullptr && blocking.executor != nullptr &&
                without.executor != nullptr);
    const auto y = RunStep(*graphs.executor, plan.x);
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(*RunStep(*blocking.executor, plan.x), *y);
    EXPECT_EQ(*RunStep(*without.executor, plan.x), *y);
    EXPECT_EQ(*RunStep(*blocking.executor, plan.x, {.trace = true}), *y);
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

}  // namespace
}  // namespace partita
