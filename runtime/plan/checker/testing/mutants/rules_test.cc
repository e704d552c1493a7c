// Every rule of the checker is needed: for each rule there is a bad plan that
// no other rule refuses.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "absl/strings/str_replace.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"

namespace partita {
namespace {

// The only rule that refuses the plan, if there is one. The oracle confirms
// that the plan is bad, unless the rule is one of form.
std::optional<Rule> OnlyRuleAgainst(const Plan& plan) {
  const std::vector<Finding> findings = FindFaults(plan);
  if (findings.empty()) return std::nullopt;
  const Rule rule = findings[0].rule;
  for (const Finding& finding : findings) {
    if (finding.rule != rule) return std::nullopt;
  }
  const CheckOptions without{.disabled = 1u << static_cast<int>(rule)};
  EXPECT_TRUE(FindFaults(plan, without).empty()) << RuleName(rule);
  if (rule > Rule::kPersistent &&
      !Judge(plan, 0, {.max_states = 2000}).harmful()) {
    return std::nullopt;
  }
  return rule;
}

// A base plan with a change that random mutations rarely make.
struct ByHand {
  const char* base;
  void (*change)(Plan& plan);
};

const ByHand kByHand[] = {
    // A buffer on a device that does not exist.
    {"one stream, memory used again",
     [](Plan& plan) { plan.entries[0].buffers[0].device = DeviceId(9); }},
    // A variable starts as another constant.
    {"two layers on two devices",
     [](Plan& plan) {
       plan.entries[0].persistent[0].initial =
           plan.entries[0].persistent[1].initial;
     }},
    // An input has another name.
    {"one stream, memory used again",
     [](Plan& plan) { plan.entries[0].inputs[0].name = "z"; }},
    // A kernel is on the other device.
    {"all_reduce of partial sums",
     [](Plan& plan) {
       plan.entries[0].programs[0].commands[6].instance.rank = 1;
     }},
    // A slot overlaps the receiver's buffer.
    {"a channel of one slot",
     [](Plan& plan) {
       Entry& entry = plan.entries[0];
       entry.buffers[entry.channels[0].slots[0].index].range.offset = 3;
     }},
    // The ranks of the collective's commands are swapped.
    {"all_reduce of partial sums",
     [](Plan& plan) {
       std::swap(plan.entries[0].groups[0].ranks[0],
                 plan.entries[0].groups[0].ranks[1]);
     }},
    // The receive is launched before its send.
    {"a channel of one slot",
     [](Plan& plan) {
       std::vector<Command>& commands = plan.entries[0].programs[0].commands;
       std::rotate(commands.begin() + 2, commands.begin() + 4,
                   commands.begin() + 5);
     }},
};

// Two unordered writes of one value, and a read after both.
const ShortPlan kTwoWrites = {"two writes",
                              R"(graph @f(%x: i8[4]) -> i8[4] {
  return %x as y
})",
                              "gpu:0 0 4",
                              R"(input x i8[4]
                                 output y i8[4]
                                 arena gpu:0
                                   !x 0 4)",
                              R"(gpu:0/s feed -> !x input 0
                                 gpu:0/s record ev0
                                 gpu:0/t feed -> !x input 0
                                 gpu:0/t wait ev0
                                 gpu:0/t fetch !x output 0)"};

// Both ranks hold all of what they state to be a partial sum.
const ShortPlan kTwiceTheSum = {"twice the sum",
                                R"(graph @f(%x: i8[2]) -> i8[2] {
  %p = neg %x : i8[2] on {gpu:0, gpu:1} (replicated) -> (partial sum)
  %r = copy %p : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  return %r as y
})",
                                R"(gpu:0 0 4
       gpu:1 0 4)",
                                R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x0 0 2
         !p0 2 2
       arena gpu:1
         !x1 0 2
         !p1 2 2
       group 0 (gpu:0/s, gpu:1/s))",
                                R"(gpu:0/s feed -> !x0 input 0
       gpu:0/s kernel %p rank 0 (!x0) -> !p0
       gpu:1/s feed -> !x1 input 0
       gpu:1/s kernel %p rank 1 (!x1) -> !p1
       gpu:0/s collective %r rank 0 !p0 -> !p0 group 0
       gpu:1/s collective %r rank 1 !p1 -> !p1 group 0
       gpu:0/s fetch !p0 output 0)"};

// The update comes from the second of two micro-batches; the first one's update
// is lost.
const ShortPlan kLastUpdate = {"the last micro-batch's update",
                               R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %u = add %w, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %u as y
})",
                               "gpu:0 2 4",
                               R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !w persistent 0 2
         !x 0 2
         !u 2 2
       persistent
         !w = %w)",
                               R"(gpu:0/s feed batch 0 -> !x input 0
       gpu:0/s kernel %u batch 0 (!w, !x) -> !u
       gpu:0/s fetch batch 0 !u output 0
       gpu:0/s feed batch 1 -> !x input 0
       gpu:0/s kernel %u batch 1 (!w, !x) -> !w
       gpu:0/s fetch batch 1 !w output 0)"};

TEST(Rules, OneUpdateForAllMicroBatches) {
  EXPECT_EQ(OnlyRuleAgainst(PlanOf(kLastUpdate)), Rule::kNextStep);
}

TEST(Rules, EachIsNeeded) {
  std::map<Rule, int> needed;
  EXPECT_EQ(OnlyRuleAgainst(PlanOf(kTwiceTheSum)), Rule::kSharding);
  ++needed[Rule::kSharding];
  EXPECT_EQ(OnlyRuleAgainst(PlanOf(kTwoWrites)), Rule::kWriteAfterWrite);
  ++needed[Rule::kWriteAfterWrite];
  for (const ByHand& by_hand : kByHand) {
    Plan plan = PlanOf(BasePlanNamed(by_hand.base));
    by_hand.change(plan);
    const std::optional<Rule> rule = OnlyRuleAgainst(plan);
    EXPECT_TRUE(rule.has_value()) << by_hand.base;
    if (rule.has_value()) ++needed[*rule];
  }
  Random random(5);
  for (const ShortPlan& base : BasePlans()) {
    Plan plan = PlanOf(base);
    const SavedParts saved(plan);
    for (const Mutation& mutation : Mutations()) {
      for (int i = 0; i < 6; ++i) {
        if (!mutation.apply(plan, random).empty()) {
          const std::optional<Rule> rule = OnlyRuleAgainst(plan);
          if (rule.has_value()) ++needed[*rule];
        }
        saved.Restore(plan);
      }
    }
  }
  for (int r = 0; r < kNumRules; ++r) {
    const Rule rule = static_cast<Rule>(r);
    std::printf("%-18s %d plans that no other rule refuses\n",
                std::string(RuleName(rule)).c_str(), needed[rule]);
    EXPECT_GT(needed[rule], 0) << RuleName(rule);
  }
}

TEST(Rules, ANameForEach) {
  std::map<std::string, int> names;
  for (int r = 0; r < kNumRules; ++r) {
    ++names[std::string(RuleName(static_cast<Rule>(r)))];
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kNumRules));
}

}  // namespace
}  // namespace partita
