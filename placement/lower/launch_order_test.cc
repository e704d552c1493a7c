// Tests the launch order and the streams of tasks that may be delayed.
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "placement/lower/lower_fixture.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

using ::testing::ElementsAre;

Plan Proved(absl::StatusOr<Plan> plan) {
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return Plan();
  const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status() << PrintPlan(*plan);
  return *std::move(plan);
}

// Two all-reduces over both devices. `factor` is an operand of the second. The
// reader of the first all-reduce comes as late in the graph as possible.
Plan PlanOfSums(DeviceKind kind, const std::string& factor) {
  Machine machine = LinkedMachine(2);
  for (MachineDevice& device : machine.devices) device.traits.kind = kind;
  const bool reads_sum = factor == "%y";
  const std::string first = "  %y = relu %a : f32[2] on {gpu:0, gpu:1}\n";
  const std::string text =
      "graph @f(%x: f32[4, 2]) -> (f32[2], f32[2]) {\n"
      "  %a = reduce_sum %x {axes = [0], keep_dims = false} : f32[2]\n"
      "      on {gpu:0, gpu:1} (split 0) -> (partial sum)\n" +
      (reads_sum ? first : "") + "  %m = mul %x, " + factor +
      " : f32[4, 2]\n"
      "      on {gpu:0, gpu:1} (split 0, " +
      (reads_sum ? "replicated" : "split 0") +
      ") -> (split 0)\n"
      "  %b = reduce_sum %m {axes = [0], keep_dims = false} : f32[2]\n"
      "      on {gpu:0, gpu:1} (split 0) -> (partial sum)\n" +
      (reads_sum ? "" : first) +
      "  %z = relu %b : f32[2] on {gpu:0, gpu:1}\n"
      "  return %y, %z\n}\n";
  absl::StatusOr<Plan> plan = PlanOf(ModuleOf(text), machine);
  return Proved(std::move(plan));
}

std::vector<std::string> StreamsOf(const Plan& plan) {
  std::vector<std::string> names;
  for (const Stream& stream : plan.entries[0].streams) {
    names.push_back(absl::StrCat(plan.devices[stream.device.index].traits.name,
                                 "/", stream.name));
  }
  return names;
}

// The compute stream of a device, in order; "+a" is the all-reduce of %a.
std::string OrderOf(const Plan& plan, const std::string& device = "gpu:0") {
  std::vector<std::string> order;
  const Graph& graph = *plan.entries[0].graph;
  const std::vector<std::string> streams = StreamsOf(plan);
  for (const Command& command : plan.entries[0].programs[0].commands) {
    if (streams[command.stream.index] != device + "/compute") continue;
    const OpView node = graph.view(command.instance.node);
    if (command.kind == Command::Kind::kKernel) {
      order.push_back(node.result(0).name());
    } else if (command.kind == Command::Kind::kCollective) {
      order.push_back(absl::StrCat("+", node.operand(0).name()));
    }
  }
  return absl::StrJoin(order, " ");
}

// On a GPU collectives, feeds and fetches can overlap with kernels. On a CPU
// all need the same cores.
TEST(LaunchOrder, WhatIsNoKernelHasAStreamOfItsOwnExceptOnACpu) {
  EXPECT_THAT(StreamsOf(PlanOfSums(DeviceKind::kCuda, "%x")),
              ElementsAre("gpu:0/compute", "gpu:0/collective", "gpu:0/feed",
                          "gpu:0/fetch", "gpu:1/compute", "gpu:1/collective",
                          "gpu:1/feed"));
  EXPECT_THAT(StreamsOf(PlanOfSums(DeviceKind::kCpu, "%x")),
              ElementsAre("gpu:0/compute", "gpu:1/compute"));
}

// A GPU with `memory` bytes. A feed of 4 KiB takes a second.
Machine OneGpu(int64_t memory) {
  Machine machine = LinkedMachine(1, memory);
  machine.devices[0].traits.kind = DeviceKind::kCuda;
  machine.devices[0].traits.memory_bandwidth = 2 * 4096;
  return machine;
}

// y = max(x) * max(z); each input takes 4 KiB.
Plan PlanOfTwoInputs(int64_t memory) {
  const Module module = ModuleOf(R"(
graph @f(%x: f32[1024], %z: f32[1024]) -> f32[1] {
  %a = reduce_max %x {axes = [0]} : f32[1] on gpu:0
  %b = reduce_max %z {axes = [0]} : f32[1] on gpu:0
  %y = mul %a, %b : f32[1] on gpu:0
  return %y
}
)");
  Plan plan = Proved(PlanOf(module.Clone(), OneGpu(memory)));
  EXPECT_EQ(RunsLikeEval(module, plan), absl::OkStatus());
  return plan;
}

constexpr int64_t kPlenty = int64_t{1} << 30;
constexpr int64_t kRoomForBoth = 16 << 10;
constexpr int64_t kRoomForOne = 6 << 10;

// In the stream of the kernels the second input takes the bytes of the first.
TEST(LaunchOrder, FeedsAndFetchesHaveStreamsOfTheirOwnIfMemoryAllows) {
  EXPECT_THAT(StreamsOf(PlanOfTwoInputs(kRoomForBoth)),
              ElementsAre("gpu:0/compute", "gpu:0/feed", "gpu:0/fetch"));
  EXPECT_THAT(StreamsOf(PlanOfTwoInputs(kRoomForOne)),
              ElementsAre("gpu:0/compute"));
}

// Of two feeds and three kernels that take a second each.
double SecondsOfTwoInputs(int64_t memory) {
  const Plan plan = PlanOfTwoInputs(memory);
  const std::vector<double> seconds(plan.entries[0].graph->node_id_bound(), 1);
  const auto simulation = Simulate(plan, 0, OneGpu(memory), seconds);
  EXPECT_TRUE(simulation.ok()) << simulation.status();
  return simulation.ok() ? simulation->latency_seconds : 0;
}

TEST(LaunchOrder, TheSecondInputIsFedWhileTheFirstKernelRuns) {
  EXPECT_NEAR(SecondsOfTwoInputs(kRoomForBoth), 4, 0.01);
  EXPECT_NEAR(SecondsOfTwoInputs(kRoomForOne), 5, 0.01);
}

// The compute streams order the uses of a variable.
TEST(LaunchOrder, VariablesAreFetchedInTheStreamOfTheirUpdates) {
  const Module module = ModuleOf(R"(variable @v: f32[2] = f32[2] [1, 2]

graph @f(%x: f32[2]) -> (f32[2], f32[2]) {
  %v = variable {dtype = f32, name = "v", shape = [2]} : f32[2] on gpu:0
  %n = add %v, %x : f32[2] on gpu:0
  %y = neg %x : f32[2] on gpu:0
  update @v = %n
  return %n, %y
}
)");
  const Plan plan =
      Proved(PlanOf(module.Clone(), OneGpu(kPlenty), {.depth = 2}));
  const std::vector<std::string> streams = StreamsOf(plan);
  std::vector<std::string> of_outputs(2);
  for (const Command& command : plan.entries[0].programs[0].commands) {
    if (command.kind != Command::Kind::kFetch) continue;
    of_outputs[command.port] = streams[command.stream.index];
  }
  EXPECT_THAT(of_outputs, ElementsAre("gpu:0/compute", "gpu:0/fetch"));
}

// Each result is read while caches hold it, before the next all-reduce.
TEST(LaunchOrder, AllReducesThatOnlyUpdatesReadRunAfterTheKernels) {
  EXPECT_EQ(OrderOf(PlanOfSums(DeviceKind::kCpu, "%x")), "a m b +a y +b z");
  EXPECT_EQ(OrderOf(PlanOfSums(DeviceKind::kCpu, "%y")), "a +a y m b +b z");
}

// Two all-reduces of a few KiB over GPUs with `memory` bytes, and updates of
// variables by the results. `last` lists the updates and outputs.
Plan PlanOfGradients(int64_t memory, const std::string& last) {
  Machine machine = LinkedMachine(2, memory);
  for (MachineDevice& device : machine.devices) {
    device.traits.kind = DeviceKind::kCuda;
  }
  absl::StatusOr<Plan> plan = PlanOf(ModuleOf(R"(variable @s: f32[] = f32[] 1
variable @t: f32[] = f32[] 1

graph @f(%x: f32[4, 512]) -> f32[] {
  %s = variable {dtype = f32, name = "s", shape = []} : f32[]
      on {gpu:0, gpu:1}
  %t = variable {dtype = f32, name = "t", shape = []} : f32[]
      on {gpu:0, gpu:1}
  %a = reduce_sum %x {axes = [0], keep_dims = false} : f32[512]
      on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %y = reduce_sum %a {axes = [0], keep_dims = false} : f32[]
      on {gpu:0, gpu:1}
  %u = sub %s, %y : f32[] on {gpu:0, gpu:1}
  %m = concat %x, %x {axis = 1} : f32[4, 1024]
      on {gpu:0, gpu:1} (split 0, split 0) -> (split 0)
  %n = abs %m : f32[4, 1024] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %b = reduce_sum %n {axes = [0], keep_dims = false} : f32[1024]
      on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %z = reduce_sum %b {axes = [0], keep_dims = false} : f32[]
      on {gpu:0, gpu:1}
  %v = sub %t, %z : f32[] on {gpu:0, gpu:1}
)" + last +
                                              R"(
}
)"),
                                     machine);
  return Proved(std::move(plan));
}

constexpr char kUpdates[] = R"(  update @s = %u
  update @t = %v
  return %s)";

TEST(LaunchOrder, UpdatesRunAfterTheBackwardPassIfGradientsFitInMemory) {
  const Plan plan = PlanOfGradients(kPlenty, kUpdates);
  EXPECT_EQ(OrderOf(plan), "a m n b y u z v");
  EXPECT_EQ(OrderOf(plan, "gpu:1"), "a m n b y u z v");
  const PlanDevice& device = plan.devices[0];
  const int64_t needed = device.persistent_bytes + device.step_bytes;
  EXPECT_EQ(OrderOf(PlanOfGradients(needed - 1, kUpdates)), "a y u m n b z v");
}

TEST(LaunchOrder, WhatAnOutputNeedsIsNotDelayed) {
  EXPECT_EQ(OrderOf(PlanOfGradients(kPlenty, "  return %u")),
            "a y u m n b z v");
}

// A variable on gpu:1 that accumulates what gpu:0 computes. `last` is the
// operand of the last node.
Plan PlanOfStatistics(const std::string& last) {
  const Module module = ModuleOf(R"(variable @m: f32[2] = f32[2] [1, 2]

graph @f(%x: f32[2]) -> f32[2] {
  %m = variable {dtype = f32, name = "m", shape = [2]} : f32[2] on gpu:1
  %s = exp %x : f32[2] on gpu:0
  %n = add %m, %s : f32[2] on gpu:1
  %a = abs %x : f32[2] on gpu:1
  %y = neg )" + last +
                                 R"( : f32[2] on gpu:1
  update @m = %n
  return %y
}
)");
  Plan plan = Proved(PlanOf(module.Clone(), LinkedMachine(2)));
  EXPECT_EQ(RunsLikeEval(module, plan), absl::OkStatus());
  return plan;
}

TEST(LaunchOrder, UpdatesFromOtherDevicesRunAfterTheKernels) {
  EXPECT_EQ(OrderOf(PlanOfStatistics("%a"), "gpu:1"), "a y n");
  EXPECT_EQ(OrderOf(PlanOfStatistics("%n"), "gpu:1"), "n a y");
}

}  // namespace
}  // namespace partita
