// When the members of a collective start and end.
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "graph/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/lower/lower_fixture.h"
#include "placement/simulate/simulate.h"

namespace partita {
namespace {

// Of collectives, in launch order.
std::vector<SimulatedCommand> PartsOf(const Plan& plan,
                                      const Simulation& simulation) {
  const auto commands = Expand(plan.entries[0]);
  EXPECT_TRUE(commands.ok()) << commands.status();
  std::vector<SimulatedCommand> parts;
  for (size_t i = 0; commands.ok() && i < commands->size(); ++i) {
    if ((*commands)[i].kind != Command::Kind::kCollective) continue;
    parts.push_back(simulation.commands[i]);
  }
  return parts;
}

// What each part of an all_reduce over both devices takes, and the step: gpu:0
// computes what both then sum, and every kernel takes a second.
void SimulateSum(const Machine& machine, Simulation& simulation,
                 std::vector<SimulatedCommand>& parts) {
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
  parts = PartsOf(*plan, simulation);
  ASSERT_EQ(parts.size(), 2u);
}

// The quicker member waits for the slower one, and both end together.
TEST(Meetings, PartsStartWhenAllHaveCome) {
  Simulation simulation;
  std::vector<SimulatedCommand> parts;
  ASSERT_NO_FATAL_FAILURE(SimulateSum(LinkedMachine(2), simulation, parts));
  EXPECT_EQ(parts[0].start, parts[1].start);
  EXPECT_EQ(parts[0].end, parts[1].end);
  // exp, a transfer, and the sum of the slower member.
  EXPECT_GE(parts[0].start, 2);
  EXPECT_GT(parts[0].end, parts[0].start);
}

// Links of 12 bytes a second, a quarter of a second's latency, and an eighth to
// launch what is no kernel.
TEST(Meetings, AnAllReduceTakesTheTimeOfItsRing) {
  Machine machine = LinkedMachine(2);
  machine.links[0].bandwidth = 12;
  machine.links[0].latency = 0.25;
  for (MachineDevice& device : machine.devices) {
    device.traits.launch_seconds = 0.125;
  }
  Simulation simulation;
  std::vector<SimulatedCommand> parts;
  ASSERT_NO_FATAL_FAILURE(SimulateSum(machine, simulation, parts));
  for (const SimulatedCommand& part : parts) {
    // The feed, exp, two rows to gpu:1 (24 bytes), their sum there.
    EXPECT_NEAR(part.start, 0.125 + 1 + (0.25 + 2) + 1, 1e-9);
    // Two steps of 6 of the sum's 12 bytes.
    EXPECT_NEAR(part.end - part.start, 0.125 + 2 * (0.25 + 0.5), 1e-9);
  }
  // neg, on both at once, and the fetch.
  EXPECT_NEAR(simulation.latency_seconds, 6 + 1 + 0.125, 1e-9);
}

}  // namespace
}  // namespace partita
