// When the members of a collective start and end.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/lower/lower_fixture.h"
#include "placement/simulate/simulate.h"

namespace partita {
namespace {

// The quicker member waits for the slower one, and both end together.
TEST(Meetings, PartsStartWhenAllHaveCome) {
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
  const Machine machine = LinkedMachine(2);
  const auto plan = PlanOf(module->Clone(), machine);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<double> node_seconds(plan->module.main().node_id_bound(),
                                         1.0);
  const auto simulation = Simulate(*plan, 0, machine, node_seconds);
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  const auto commands = Expand(plan->entries[0]);
  ASSERT_TRUE(commands.ok());
  std::vector<SimulatedCommand> parts;
  for (size_t i = 0; i < commands->size(); ++i) {
    if ((*commands)[i].kind != Command::Kind::kCollective) continue;
    parts.push_back(simulation->commands[i]);
  }
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].start, parts[1].start);
  EXPECT_EQ(parts[0].end, parts[1].end);
  // exp, a transfer, and the sum of the slower member.
  EXPECT_GE(parts[0].start, 2);
  EXPECT_GT(parts[0].end, parts[0].start);
}

}  // namespace
}  // namespace partita
