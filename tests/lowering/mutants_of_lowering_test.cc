// The checker refuses every harmful mutant of lowered plans.
// PARTITA_MUTANTS_SEED and PARTITA_MUTANTS_GRAPHS select another sample.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "placement/lower/lower_fixture.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"
#include "runtime/plan/plan_text.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// A few small values on two devices.
Module SmallPlacedGraph(int seed, Random& random) {
  RandomGraphOptions options;
  options.steps = 3 + seed % 4;
  options.max_extent = 2;
  options.max_elements = 16;
  options.dead_nodes = false;
  Module module = RandomGraph(seed, options);
  for (const OpView& op : module.main().ops()) {
    module.main().node(op.id()).placement.devices = {
        absl::StrCat("gpu:", random() % 2)};
  }
  return module;
}

TEST(MutantsOfLowering, EveryHarmfulOneIsRefused) {
  const int seed = FromEnvironment("PARTITA_MUTANTS_SEED", 1);
  const int graphs = FromEnvironment("PARTITA_MUTANTS_GRAPHS", 60);
  std::printf("seed %d, %d graphs\n", seed, graphs);
  Random random(seed);
  const OracleOptions look = {.steps = 2, .max_states = 400, .random_runs = 5};
  int mutants = 0;
  int harmful = 0;
  for (int g = 0; g < graphs; ++g) {
    const int depth = 1 + g % 2;
    absl::StatusOr<Plan> plan = PlanOf(SmallPlacedGraph(seed + g, random),
                                       LinkedMachine(2), {.depth = depth});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const Verdict good = Judge(*plan, 0, look);
    EXPECT_EQ(good.harm, "") << PrintPlan(*plan);
    const SavedParts saved(*plan);
    for (const Mutation& mutation : Mutations()) {
      const std::string done = mutation.apply(*plan, random);
      if (!done.empty()) {
        const bool refused = !FindFaults(*plan).empty();
        const Verdict verdict = Judge(*plan, 0, look);
        ++mutants;
        harmful += verdict.harmful();
        EXPECT_TRUE(refused || !verdict.harmful()) << done << "\n"
                                                   << verdict.harm << "\n"
                                                   << PrintPlan(*plan);
      }
      saved.Restore(*plan);
    }
  }
  std::printf("%d mutants, %d harmful\n", mutants, harmful);
  EXPECT_GE(harmful, 5 * graphs);
}

}  // namespace
}  // namespace partita
