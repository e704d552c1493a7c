// Tests the messages for numbers beyond the checker's limits.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

constexpr ShortPlan kNeg = {.name = "neg",
                            .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %y = neg %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  return %y
})",
                            .devices = "gpu:0 0 2",
                            .declared = R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x 0 2)",
                            .launch = R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %y (!x) -> !x
       gpu:0/s fetch !x output 0)"};

std::string Verdict(const Plan& plan) {
  const auto proof = CheckPlan(plan);
  return proof.ok() ? "proved" : std::string(proof.status().message());
}

TEST(Limits, ADeviceHasAFewThreads) {
  Plan plan = PlanOf(kNeg);
  EXPECT_EQ(Verdict(plan), "proved");
  for (const int threads : {-7, 0, 4097, 2'000'000'000}) {
    plan.devices[0].traits.threads = threads;
    EXPECT_EQ(Verdict(plan),
              absl::StrCat("plan @f: device gpu:0: found ", threads,
                           " threads; expected 1 to 4096; compile the model "
                           "for a device that has them"));
  }
}

TEST(Limits, EventsAreNoMoreThanCommandsCouldUse) {
  Plan plan = PlanOf(kNeg);
  plan.entries[0].num_events = 1027;
  EXPECT_EQ(Verdict(plan), "proved");
  plan.entries[0].num_events = 1028;
  EXPECT_EQ(Verdict(plan),
            "plan @f: found 1028 events for 3 commands; expected at most 1027; "
            "number the events that commands record from 0");
}

TEST(Limits, APlanHasSomeEntries) {
  Plan plan = PlanOf(kNeg);
  plan.entries.resize(1025, plan.entries[0]);
  EXPECT_EQ(Verdict(plan),
            "plan @f: found 1025 entries; expected at most 1024; plan for "
            "fewer");
}

// A step of five hundred commands, invoked for as many micro-batches, in all
// overlapping steps.
TEST(Limits, AScheduleIsNoMoreThanItStates) {
  Plan plan = PlanOf(kNeg);
  plan.devices[0].memory = 1000;
  Entry& entry = plan.entries[0];
  entry.programs[0].commands.resize(500, entry.programs[0].commands[1]);
  entry.schedule.resize(500);
  entry.depth = 1;
  EXPECT_TRUE(Expand(entry).ok());
  entry.depth = kMaxPlanDepth;
  // 500 commands with two buffers each, and as many invocations.
  EXPECT_EQ(Verdict(plan),
            absl::StrCat("plan @f: schedule: entry @f: invocation 22: found "
                         "more than ",
                         65536 + 1024 * (500 + 998 + 500),
                         " commands and buffers of commands in the 64 steps "
                         "that overlap; expected at most 65536, and 1024 for "
                         "each that the programs and the schedule state; lower "
                         "the micro-batches or the depth"));
}

// Faults of form are found before the schedule is expanded; the second entry's
// schedule would be too long.
TEST(Limits, FormComesBeforeTheSchedule) {
  Plan plan = PlanOf(kNeg);
  Entry& entry = plan.entries[0];
  entry.buffers[0].range.offset = 1;
  entry.programs[0].commands.resize(3000, entry.programs[0].commands[1]);
  entry.schedule.resize(3000);
  EXPECT_EQ(Verdict(plan),
            "plan @f: gpu:0 !x: found offset 1, 1 x 2 bytes; expected a range "
            "inside the 2 bytes of the step-local part; move it or enlarge "
            "the part");
}

}  // namespace
}  // namespace partita
