// What each step in flight has of its own, and what all share.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/bytes_in_flight.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr int64_t kLine = 16;  // f32 elements of 64 bytes

TEST(BytesInFlightTest, StepsShareWhatIsStoredAndItsNewValue) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId c = g.Weight("c", kLine);
  const ValueId v = g.Variable("v", 2 * kLine);
  const ValueId y = g.Work("y", {x, c, v}, 3 * kLine);
  const ValueId next = g.Work("next", {y}, 2 * kLine);
  g.Update("v", next);
  g.Return({y});
  const Machine machine = EqualCpus(1, 1000);
  const SampleCatalog catalog(
      [](const std::string&, const DeviceTraits&) { return 1; },
      /*workspace=*/128);
  const CostModel costs(g.graph(), machine, catalog);
  const Flow flow(costs);
  const Objective objective{.depth = 3};
  const PlannerOptions options;
  const PlanRequest request{costs, objective, options};
  const BytesInFlight bytes(request, flow);
  EXPECT_EQ(bytes.Of(x), 3 * 64);
  EXPECT_EQ(bytes.Of(c), 64);
  EXPECT_EQ(bytes.Of(v), 128);
  EXPECT_EQ(bytes.Of(y), 3 * 192);
  EXPECT_EQ(bytes.Of(next), 128);
  EXPECT_EQ(bytes.WorkspaceOf(g.node(y), MachineDeviceId(0)), 3 * 128);
}

}  // namespace
}  // namespace partita
