// Tests of steps that auto and search choose.
// SPDX-License-Identifier: Apache-2.0

#include "partita/step_search.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/builder/examples/models.h"
#include "graph/ops/op_set.h"
#include "graph/option_error.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "partita/compile_request.h"
#include "partita/leaderboard.h"
#include "partita/micro_batch_counts.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

constexpr int64_t kAmple = int64_t{1} << 30;

Module Training() { return *MnistTraining({.batch = 32}); }

Machine TwoStages() {
  Machine machine = EqualCpus(2, kAmple);
  machine.links[0].latency = 1e-5;
  for (MachineDevice& device : machine.devices) {
    device.traits.peak_flops[static_cast<int>(DType::kF32)] = 1e9;
    device.traits.memory_bandwidth = 1e9;
  }
  return machine;
}

constexpr int kWidth = 256;

// A step of training two layers of equal width on 512 examples, each with its
// scope. The second one has the greater part of the work.
Module TwoLayers() {
  const std::string weight = absl::StrCat("f32[", kWidth, ", ", kWidth, "]");
  const std::string initial = absl::StrCat(
      weight, " [", absl::StrJoin(std::vector<int>(kWidth * kWidth, 1), ", "),
      "]\n");
  std::string text = absl::StrCat("variable @v: W trainable = ", initial,
                                  "variable @w: W trainable = ", initial, R"(
graph @train(%x: X, %t: X) -> (X) {
  %v = variable {dtype = f32, name = "v", shape = [256, 256]} : W scope "one"
  %w = variable {dtype = f32, name = "w", shape = [256, 256]} : W scope "two"
  %h = matmul %x, %v : X scope "one"
  %y = matmul %h, %w : X scope "two"
  %d = sub %y, %t : X scope "two"
  %wt = transpose %w {perm = [1, 0]} : W scope "two"
  %e = matmul %d, %wt : X scope "two"
  %ht = transpose %h {perm = [1, 0]} : Y scope "two"
  %gw = matmul %ht, %d : W scope "two"
  %xt = transpose %x {perm = [1, 0]} : Y scope "one"
  %gv = matmul %xt, %e : W scope "one"
  %nv = sub %v, %gv : W scope "one"
  %nw = sub %w, %gw : W scope "two"
  update @v = %nv
  update @w = %nw
  return %y
}
)");
  text = absl::StrReplaceAll(text, {{": W", absl::StrCat(": ", weight)},
                                    {": X", ": f32[512, 256]"},
                                    {"(X)", "(f32[512, 256])"},
                                    {": Y", ": f32[256, 512]"}});
  return *ParseModule(text, "two layers", OpSet::BuiltIn());
}

CompileOptions Searching() {
  CompileOptions options;
  options.strategy = "search";
  options.planner.evaluations = 128;
  return options;
}

double StepOf(const Compiled& compiled) {
  double seconds = 0;
  for (const EntryReport& entry : compiled.report.entries) {
    seconds += entry.step_seconds;
  }
  return seconds;
}

int64_t MostBytes(const Compiled& compiled) {
  int64_t most = 0;
  for (const DeviceMemoryUse& use : compiled.report.devices) {
    most = std::max(most, use.arena);
  }
  return most;
}

TEST(StepSearchTest, CountsAtLeastDouble) {
  EXPECT_EQ(MicroBatchCountsAbove(1, Training(), {}),
            (std::vector<int>{2, 4, 8, 16, 32}));
  EXPECT_EQ(MicroBatchCountsAbove(4, *MnistTraining({.batch = 12}), {}),
            (std::vector<int>{12}));
  EXPECT_TRUE(MicroBatchCountsAbove(1, *TwoLayerPerceptron(), {}).empty());
}

// Without micro-batches each stage waits for the other: four matmuls in
// sequence, where one device has three.
TEST(StepSearchTest, MicroBatchesOverlapStages) {
  const Module module = TwoLayers();
  CompileOptions options = Searching();
  options.pins = {{"one", {"cpu:0"}}, {"two", {"cpu:1"}}};
  const auto open = Predict(module.Clone(), TwoStages(), options);
  ASSERT_TRUE(open.ok()) << open.status();
  options.micro_batches = 1;
  const auto whole = Predict(module.Clone(), TwoStages(), options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_LT(StepOf(*open), 0.95 * StepOf(*whole));
  EXPECT_TRUE(absl::StrContains(open->report.chosen_step, "micro-batches"))
      << open->report.chosen_step;
}

// Auto tries the same steps, and takes a strategy's plan only if that saves a
// share of the step (Planner::least_gain).
TEST(StepSearchTest, AutoHasTheStepOfTheSearch) {
  const Module module = TwoLayers();
  CompileOptions options = Searching();
  options.pins = {{"one", {"cpu:0"}}, {"two", {"cpu:1"}}};
  const auto search = Predict(module.Clone(), TwoStages(), options);
  ASSERT_TRUE(search.ok()) << search.status();
  options.strategy = "auto";
  const auto by_auto = Predict(module.Clone(), TwoStages(), options);
  ASSERT_TRUE(by_auto.ok()) << by_auto.status();
  EXPECT_LE(StepOf(*by_auto), 1.02 * StepOf(*search));
  EXPECT_TRUE(absl::StrContains(by_auto->report.chosen_step, "micro-batches"))
      << by_auto->report.chosen_step;
}

// No other strategy has the first matmul away from the second, and the second
// beside the first one's gradient.
TEST(StepSearchTest, AStepIsChosenWithinConstraints) {
  const Module module = TwoLayers();
  for (const char* strategy : {"auto", "search"}) {
    SCOPED_TRACE(strategy);
    CompileOptions options = Searching();
    options.strategy = strategy;
    options.planner.constraints = {{Constraint::Kind::kApart, {"h", "y"}},
                                   {Constraint::Kind::kTogether, {"y", "gv"}}};
    const auto open = Predict(module.Clone(), TwoStages(), options);
    ASSERT_TRUE(open.ok()) << open.status();
    EXPECT_TRUE(absl::StrContains(open->report.chosen_step, "micro-batches"))
        << open->report.chosen_step;
    options.micro_batches = 1;
    const auto whole = Predict(module.Clone(), TwoStages(), options);
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_LT(StepOf(*open), StepOf(*whole));
  }
}

// Transfers take longer than the step on one device, in any number of
// micro-batches.
TEST(StepSearchTest, AStepThatGainsNothingTakesFewTrials) {
  Machine machine = TwoStages();
  machine.links[0].latency = 1;
  CompileOptions options = Searching();
  options.strategy = "auto";
  int trials = 0;
  options.progress = [&](absl::string_view stage) {
    trials += absl::StartsWith(stage, "step ") ? 1 : 0;
  };
  const auto compiled = Predict(Training(), machine, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(compiled->report.chosen_step, "");
  EXPECT_LE(trials, 3);  // of six numbers of micro-batches
}

// What is open is never worse than a given value.
TEST(StepSearchTest, AnOpenStepIsNoWorseThanTheUsualOne) {
  const Module module = Training();
  const Machine machine = TwoStages();
  CompileOptions options = Searching();
  const auto open = Predict(module.Clone(), machine, options);
  ASSERT_TRUE(open.ok()) << open.status();
  options.micro_batches = 1;
  options.bucket_bytes = kUsualBucketBytes;
  const auto usual = Predict(module.Clone(), machine, options);
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_EQ(usual->report.chosen_step, "");
  EXPECT_LE(StepOf(*open), StepOf(*usual) * (1 + 1e-6));
}

// On one device the only reason for micro-batches is memory.
TEST(StepSearchTest, TheObjectiveMemoryTakesMicroBatches) {
  const Module module = Training();
  const Machine machine = EqualCpus(1, kAmple);
  CompileOptions options = Searching();
  const auto quick = Predict(module.Clone(), machine, options);
  ASSERT_TRUE(quick.ok()) << quick.status();
  EXPECT_EQ(quick->report.chosen_step, "");
  options.planner.objective = ObjectiveChoice{Goal::kMemory};
  const auto small = Predict(module.Clone(), machine, options);
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_LT(MostBytes(*small), MostBytes(*quick));
  EXPECT_GT(StepOf(*small), StepOf(*quick));
  // A limit between the two steps takes more memory than none.
  options.planner.objective->most_step_seconds = StepOf(*quick) * 1.001;
  const auto within = Predict(module.Clone(), machine, options);
  ASSERT_TRUE(within.ok()) << within.status();
  EXPECT_LE(StepOf(*within), StepOf(*quick) * 1.001);
  EXPECT_GE(MostBytes(*within), MostBytes(*small));
}

TEST(StepSearchTest, ALeaderboardNamesTheChosenStep) {
  CompileOptions options = Searching();
  options.planner.objective = ObjectiveChoice{Goal::kMemory};
  const auto board =
      CompareStrategies(Training(), EqualCpus(1, kAmple), options);
  ASSERT_TRUE(board.ok()) << board.status();
  EXPECT_EQ(board->rows[0].strategy, "search");
  EXPECT_TRUE(absl::StrContains(board->rows[0].chosen, "micro-batches"))
      << board->rows[0].chosen;
  const auto by_auto = absl::c_find_if(
      board->rows,
      [](const LeaderboardRow& row) { return row.strategy == "auto"; });
  EXPECT_TRUE(absl::StrContains(by_auto->chosen, " micro-batches, "))
      << by_auto->chosen;
  EXPECT_TRUE(absl::StrContains(by_auto->chosen, " in ")) << by_auto->chosen;
}

// The same step as the plan's.
TEST(StepSearchTest, TextsOfStagesHaveTheChosenStep) {
  CompileOptions options = Searching();
  options.planner.objective = ObjectiveChoice{Goal::kMemory};
  const Machine machine = EqualCpus(1, kAmple);
  const auto compiled = Predict(Training(), machine, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto placed = CompileTo("placed", Training(), machine, options);
  ASSERT_TRUE(placed.ok()) << placed.status();
  const std::string count = compiled->report.chosen_step.substr(
      0, compiled->report.chosen_step.find(' '));
  EXPECT_TRUE(
      absl::StrContains(*placed, absl::StrCat("{micro_batches = ", count, "}")))
      << compiled->report.chosen_step;
}

TEST(StepSearchTest, NoPlanWithinTheTimeIsRefused) {
  CompileOptions options = Searching();
  options.planner.objective = ObjectiveChoice{Goal::kMemory, 1e-12};
  const auto compiled =
      Predict(Training(), EqualCpus(1, kAmple), options).status();
  EXPECT_EQ(compiled.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OptionOf(compiled), "objective");
  EXPECT_TRUE(absl::StartsWith(
      compiled.message(),
      "objective: found no plan with a step of at most 1e-12 s; expected one; "
      "allow "))
      << compiled;
}

// A given value is a constraint; with all of them given, nothing is chosen.
TEST(StepSearchTest, GivenValuesAreKept) {
  const Module module = Training();
  CompileOptions options = Searching();
  options.micro_batches = 4;
  options.schedule = PipelineSchedule::kGPipe;
  EXPECT_TRUE(ChoosesStep(module, TwoStages(), options));
  const auto steps = StepsToCompile(module, TwoStages(), options);
  ASSERT_TRUE(steps.ok()) << steps.status();
  for (const StepToCompile& step : *steps) {
    EXPECT_EQ(step.options.micro_batches, 4);
    EXPECT_EQ(step.options.schedule, PipelineSchedule::kGPipe);
  }
  options.bucket_bytes = 0;
  EXPECT_FALSE(ChoosesStep(module, TwoStages(), options));
  EXPECT_EQ(StepsToCompile(module, TwoStages(), options)->size(), 1u);
  // Inference, one device, and other strategies leave it to the user.
  EXPECT_FALSE(ChoosesStep(*TwoLayerPerceptron(), TwoStages(), Searching()));
  EXPECT_FALSE(ChoosesStep(module, EqualCpus(1, kAmple), Searching()));
  EXPECT_TRUE(ChoosesStep(module, TwoStages(), {.strategy = "auto"}));
  EXPECT_FALSE(ChoosesStep(module, TwoStages(), {.strategy = "pipeline"}));
}

// A schedule needs micro-batches: given, or those of a step that is open.
TEST(StepSearchTest, AScheduleWithoutMicroBatchesIsRefused) {
  const Module module = Training();
  CompileOptions options = Searching();
  options.schedule = PipelineSchedule::kGPipe;
  EXPECT_EQ(CheckSchedule(module, TwoStages(), options), absl::OkStatus());
  EXPECT_EQ(OptionOf(CheckSchedule(module, EqualCpus(1, kAmple), options)),
            "pipeline-schedule");
  options.strategy = "list";
  EXPECT_EQ(OptionOf(CheckSchedule(module, TwoStages(), options)),
            "pipeline-schedule");
  options.strategy = "auto";
  EXPECT_EQ(CheckSchedule(module, TwoStages(), options), absl::OkStatus());
  options.micro_batches = 1;
  EXPECT_EQ(OptionOf(CheckSchedule(module, TwoStages(), options)),
            "pipeline-schedule");
}

// A step of training two layers with few weights on sixteen examples.
Module WideMiddle() {
  std::string text = absl::StrReplaceAll(R"(
variable @v: V trainable = V [ONES]
variable @w: W trainable = W [ONES]
graph @train(%x: X, %t: X) -> (f32[]) {
  %v = variable {dtype = f32, name = "v", shape = [4, 32]} : V
  %w = variable {dtype = f32, name = "w", shape = [32, 4]} : W
  %h = matmul %x, %v : H
  %r = relu %h : H
  %p = matmul %r, %w : X
  %y = relu %p : X
  %d = sub %y, %t : X
  %q = mul %d, %d : X
  %loss = reduce_sum %q {axes = [0, 1], keep_dims = false} : f32[]
  %sy = sign %y : X
  %e = mul %d, %sy : X
  %rt = transpose %r {perm = [1, 0]} : K
  %gw = matmul %rt, %e : W
  %wt = transpose %w {perm = [1, 0]} : V
  %f = matmul %e, %wt : H
  %sr = sign %r : H
  %g = mul %f, %sr : H
  %xt = transpose %x {perm = [1, 0]} : Y
  %gv = matmul %xt, %g : V
  %nv = sub %v, %gv : V
  %nw = sub %w, %gw : W
  update @v = %nv
  update @w = %nw
  return %loss
}
)",
                                         {{": V", ": f32[4, 32]"},
                                          {"= V", "= f32[4, 32]"},
                                          {": W", ": f32[32, 4]"},
                                          {"= W", "= f32[32, 4]"},
                                          {": X", ": f32[16, 4]"},
                                          {": Y", ": f32[4, 16]"},
                                          {": H", ": f32[16, 32]"},
                                          {": K", ": f32[32, 16]"}});
  const std::string ones = absl::StrJoin(std::vector<int>(4 * 32, 1), ", ");
  text = absl::StrReplaceAll(text, {{"ONES", ones}});
  return *ParseModule(text, "wide middle", OpSet::BuiltIn());
}

// Neither a whole batch fits nor, with any number of micro-batches, what the
// strategies of trials make of it.
TEST(StepSearchTest, WhereNoTrialFitsTheSearchTriesTheNearest) {
  const Module module = WideMiddle();
  Machine machine = EqualCpus(2, 2664);
  for (MachineDevice& device : machine.devices) {
    device.traits.isa = "avx2";
    device.traits.peak_flops[static_cast<int>(DType::kF32)] = 192e9;
    device.traits.memory_bandwidth = 12e9;
    device.traits.launch_seconds = 1e-6;
  }
  machine.links[0].bandwidth = 6e9;
  machine.links[0].latency = 2e-6;
  CompileOptions options = {.strategy = "auto", .remedies = false};
  options.planner.evaluations = 1024;
  const auto chosen = Predict(module.Clone(), machine, options);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->report.strategy, "search");
  EXPECT_TRUE(absl::StartsWith(chosen->report.chosen_step, "16 micro-batches"))
      << chosen->report.chosen_step;
  options.micro_batches = 1;
  EXPECT_EQ(Predict(module.Clone(), machine, options).status().code(),
            absl::StatusCode::kResourceExhausted);
  options.planner = {};  // these strategies have no evaluations
  for (const char* strategy : {"single", "data", "pipeline", "list"}) {
    options.strategy = strategy;
    for (int count : {1, 2, 4, 8, 16}) {
      options.micro_batches = count;
      EXPECT_EQ(Predict(module.Clone(), machine, options).status().code(),
                absl::StatusCode::kResourceExhausted)
          << strategy << " in " << count;
    }
  }
}

// Its search must end in the time that is left.
TEST(StepSearchTest, WithATimeBudgetOneStepIsCompiled) {
  CompileOptions options = Searching();
  options.micro_batches = 1;  // only buckets are open
  options.planner.time_budget_ms = 600'000;
  const auto steps = StepsToCompile(Training(), TwoStages(), options);
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(steps->size(), 1u);
  EXPECT_LT(*steps->front().options.planner.time_budget_ms, 600'000);
  EXPECT_GT(*steps->front().options.planner.time_budget_ms, 0);
}

TEST(StepSearchTest, TheSameInputGivesTheSamePlan) {
  const Module module = Training();
  CompileOptions options = Searching();
  int reports = 0;
  options.progress = [&](absl::string_view stage) {
    reports += absl::StartsWith(stage, "step ") ? 1 : 0;
  };
  const auto once = Predict(module.Clone(), TwoStages(), options);
  ASSERT_TRUE(once.ok()) << once.status();
  EXPECT_GT(reports, 2);
  const auto again = Predict(module.Clone(), TwoStages(), options);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(PrintPlan(once->plan), PrintPlan(again->plan));
}

}  // namespace
}  // namespace partita
