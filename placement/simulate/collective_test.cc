// Tests when the ranks of a collective start and end.
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/lower/lower_fixture.h"
#include "placement/simulate/simulate.h"

namespace partita {
namespace {

// The simulated commands of collectives, in launch order.
std::vector<SimulatedCommand> CommandsOfCollectives(
    const Plan& plan, const Simulation& simulation) {
  const auto commands = Expand(plan.entries[0]);
  EXPECT_TRUE(commands.ok()) << commands.status();
  std::vector<SimulatedCommand> ranks;
  if (!commands.ok()) return ranks;
  for (CommandId id : commands->ids()) {
    if ((*commands)[id].kind != Command::Kind::kCollective) continue;
    ranks.push_back(simulation.commands[id]);
  }
  return ranks;
}

// Simulates an all_reduce over two devices: gpu:0 computes the operand of a sum
// that both devices share. Every kernel takes one second. Returns the commands
// of both ranks and the step.
void SimulateAllReduce(const Machine& machine, Simulation& simulation,
                       std::vector<SimulatedCommand>& ranks) {
  const auto module = ParseModule(
      R"(graph @f(%x: f32[4, 3]) -> f32[3] {
  %a = exp %x : f32[4, 3] on gpu:0
  %s = reduce_sum %a {axes = [0], keep_dims = false} : f32[3]
      on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %n = neg %s : f32[3] on {gpu:0, gpu:1}
  return %n
}
)",
      "t", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto plan = PlanOf(module->Clone(), machine);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<double> node_seconds(plan->module.main().node_id_bound(),
                                         1.0);
  auto simulated = Simulate(*plan, 0, machine, node_seconds);
  ASSERT_TRUE(simulated.ok()) << simulated.status();
  simulation = *std::move(simulated);
  ranks = CommandsOfCollectives(*plan, simulation);
  ASSERT_EQ(ranks.size(), 2u);
}

// The faster rank waits for the slower one, and both end together.
TEST(SimulatedCollectives, StartWhenAllRanksHaveArrived) {
  Simulation simulation;
  std::vector<SimulatedCommand> ranks;
  ASSERT_NO_FATAL_FAILURE(
      SimulateAllReduce(LinkedMachine(2), simulation, ranks));
  EXPECT_EQ(ranks[0].start, ranks[1].start);
  EXPECT_EQ(ranks[0].end, ranks[1].end);
  // exp, a transfer, and the kernel of the slower rank.
  EXPECT_GE(ranks[0].start, 2);
  EXPECT_GT(ranks[0].end, ranks[0].start);
}

// Links of 12 bytes per second, 0.25 s of latency, and 0.125 s to launch a
// command that is not a kernel.
TEST(SimulatedCollectives, AnAllReduceTakesTheTimeOfItsRing) {
  Machine machine = LinkedMachine(2);
  machine.links[0].bandwidth = 12;
  machine.links[0].latency = 0.25;
  for (MachineDevice& device : machine.devices) {
    device.traits.launch_seconds = 0.125;
  }
  Simulation simulation;
  std::vector<SimulatedCommand> ranks;
  ASSERT_NO_FATAL_FAILURE(SimulateAllReduce(machine, simulation, ranks));
  for (const SimulatedCommand& rank : ranks) {
    // The feed, exp, a copy of two rows (24 bytes) to gpu:1, the sum there.
    EXPECT_NEAR(rank.start, 0.125 + 1 + (0.25 + 2) + 1, 1e-9);
    // Two ring steps of 6 bytes each, half of the operand.
    EXPECT_NEAR(rank.end - rank.start, 0.125 + 2 * (0.25 + 0.5), 1e-9);
  }
  // neg, on both devices at once, and the fetch.
  EXPECT_NEAR(simulation.latency_seconds, 6 + 1 + 0.125, 1e-9);
}

TEST(SimulatedCollectives, AnAllReduceTakesTheMeasuredTimeOfItsLink) {
  Machine machine = LinkedMachine(2);
  machine.links[0].collectives.reduce = {.bandwidth = 4, .latency = 5};
  for (MachineDevice& device : machine.devices) {
    device.traits.launch_seconds = 0.125;
  }
  Simulation simulation;
  std::vector<SimulatedCommand> ranks;
  ASSERT_NO_FATAL_FAILURE(SimulateAllReduce(machine, simulation, ranks));
  for (const SimulatedCommand& rank : ranks) {
    // In a ring each of two ranks sends as much as it supplies: 12 bytes.
    EXPECT_NEAR(rank.end - rank.start, 0.125 + 5 + 3, 1e-9);
  }
}

}  // namespace
}  // namespace partita
