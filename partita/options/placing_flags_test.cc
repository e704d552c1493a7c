// Every option of a compilation, and every value that is refused, as keys of
// the C API; tools/partita/errors has the same as flags.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/placing_flags.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "partita/options/compilation_flags.h"

namespace partita {
namespace {

using Texts = std::vector<absl::string_view>;

Arguments ArgumentsOf(const Texts& options) {
  auto arguments =
      Arguments::ParseKeys("model.onnx", options, kCompilationFlags);
  EXPECT_TRUE(arguments.ok()) << arguments.status();
  return *arguments;
}

CompileOptions Read(const Texts& options) {
  auto read = ReadCompileOptions(ArgumentsOf(options));
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *read : CompileOptions();
}

// Of the options that parse.
std::string Refusal(const Texts& options) {
  const auto read = ReadCompileOptions(ArgumentsOf(options));
  EXPECT_TRUE(absl::IsInvalidArgument(read.status()));
  EXPECT_TRUE(IsCalledWrongly(read.status()));
  return std::string(read.status().message());
}

TEST(PlacingFlagsTest, WithoutOptionsThereAreTheDefaults) {
  const CompileOptions options = Read({});
  EXPECT_EQ(options.strategy, "auto");
  EXPECT_EQ(options.depth, 1);
  EXPECT_FALSE(options.micro_batches.has_value());
  EXPECT_EQ(options.passes.stop_after, -1);
  EXPECT_EQ(ReadPlanFileOptions(ArgumentsOf({})).weights,
            WeightStorage::kEmbed);
}

TEST(PlacingFlagsTest, OptionsAreRead) {
  const Texts texts = {"machine=a=b.json", "strategy=search",
                       "bucket-size=2",    "output-device=cpu:0",
                       "micro-batches=4",  "batch-input=x",
                       "batch-input=t",    "pipeline-schedule=gpipe",
                       "depth=3",          "weights=reference",
                       "passes=2",         "skip=remove_dead",
                       "dump=/tmp/d"};
  const CompileOptions options = Read(texts);
  EXPECT_EQ(ArgumentsOf(texts).Get("machine", ""), "a=b.json");
  EXPECT_EQ(options.strategy, "search");
  EXPECT_EQ(options.bucket_bytes, 2 << 20);
  EXPECT_EQ(options.output_device, "cpu:0");
  EXPECT_EQ(options.micro_batches, 4);
  EXPECT_EQ(options.batch_inputs, (std::vector<std::string>{"x", "t"}));
  EXPECT_EQ(options.schedule, PipelineSchedule::kGPipe);
  EXPECT_EQ(options.depth, 3);
  EXPECT_EQ(options.passes.stop_after, 2);
  EXPECT_EQ(options.passes.skip, (std::vector<std::string>{"remove_dead"}));
  EXPECT_EQ(options.passes.dump_folder, "/tmp/d");
  EXPECT_EQ(ReadPlanFileOptions(ArgumentsOf(texts)).weights,
            WeightStorage::kReference);
}

TEST(PlacingFlagsTest, OptionsOfStrategiesAreRead) {
  const PlannerOptions search =
      Read({"strategy=search", "time-budget=2", "evaluations=7",
            "objective=memory:0.5", "most-devices=3"})
          .planner;
  EXPECT_EQ(search.time_budget_ms, 2000);
  EXPECT_EQ(search.evaluations, 7);
  EXPECT_EQ(search.most_devices, 3);
  EXPECT_EQ(search.objective->goal, Goal::kMemory);
  EXPECT_EQ(search.objective->most_step_seconds, 0.5);
  EXPECT_EQ(
      Read({"strategy=data", "sharded-updates=4"}).planner.sharded_update_bytes,
      4096);
}

TEST(PlacingFlagsTest, PinsAndConstraintsAreRead) {
  const CompileOptions options =
      Read({"pin=a*=gpu:0,gpu:1/split2", "pin=b=cpu:0", "together=a*,b",
            "apart=a,b"});
  ASSERT_EQ(options.pins.size(), 2u);
  EXPECT_EQ(options.pins[0].pattern, "a*");
  EXPECT_EQ(options.pins[0].devices,
            (std::vector<std::string>{"gpu:0", "gpu:1"}));
  EXPECT_EQ(options.pins[0].dim, 2);
  EXPECT_EQ(options.pins[1].dim, -1);
  ASSERT_EQ(options.planner.constraints.size(), 2u);
  EXPECT_EQ(options.planner.constraints[0].kind, Constraint::Kind::kTogether);
  EXPECT_EQ(options.planner.constraints[1].kind, Constraint::Kind::kApart);
}

TEST(PlacingFlagsTest, IeeeLeavesOutFusedEpilogues) {
  EXPECT_FALSE(Read({"ieee=false"}).ieee);
  const CompileOptions options = Read({"ieee=true"});
  EXPECT_TRUE(options.ieee);
  EXPECT_EQ(options.passes.skip, (std::vector<std::string>{"fuse_epilogue"}));
}

TEST(PlacingFlagsTest, AnOptionOfOneStrategyImpliesIt) {
  EXPECT_EQ(Read({"stages=2"}).strategy, "pipeline");
  EXPECT_EQ(Read({"device=cpu:0"}).strategy, "single");
  EXPECT_EQ(Refusal({"stages=2", "replicas=2"}),
            "stages: found with replicas; expected one of them, as they mean "
            "strategy=pipeline and strategy=data");
}

TEST(PlacingFlagsTest, OptionsThatNothingReadsAreRefused) {
  EXPECT_EQ(Refusal({"strategy=single", "stages=2"}),
            "stages: found with strategy single, which does not read it; "
            "expected strategy=pipeline");
  EXPECT_EQ(Refusal({"stages=2", "evaluations=7"}),
            "evaluations: found with stages, which means strategy=pipeline, "
            "which does not read it; expected strategy=auto or search");
  EXPECT_EQ(Refusal({"strategy=list", "pipeline-schedule=gpipe"}),
            "pipeline-schedule: found without micro-batches; expected two or "
            "more micro-batches");
}

TEST(PlacingFlagsTest, WrongValuesAreRefused) {
  const std::vector<std::pair<absl::string_view, std::string>> wrong = {
      {"depth=0", "depth: found 0; expected an integer in 1..64"},
      {"micro-batches=5000",
       "micro-batches: found 5000; expected an integer in 1..4096"},
      {"pin=a=gpu:0/half",
       "pin=a=gpu:0/half: found gpu:0/half; expected devices, and how to "
       "split nodes over them, as in gpu:0,gpu:1/split0"},
      {"pin=a=gpu:0,",
       "pin=a=gpu:0,: found gpu:0,; expected devices, and how to split nodes "
       "over them, as in gpu:0,gpu:1/split0"},
      {"apart=a",
       "apart=a: found 1 pattern; expected at least 2, none of them empty, as "
       "in encoder,decoder"},
      {"together=a,",
       "together=a,: found 2 patterns; expected at least 1, none of them "
       "empty, as in encoder*"},
      {"stages=0", "stages: found 0; expected an integer in 1..65536"},
      {"objective=speed",
       "objective: found speed; expected latency, throughput, memory, or "
       "memory:SECONDS with the seconds that a step may take, as in "
       "memory:0.01"},
  };
  for (const auto& [option, message] : wrong) {
    EXPECT_EQ(Refusal({option}), message);
  }
}

TEST(PlacingFlagsTest, OfferedObjectivesAreRead) {
  for (const std::string& name : kObjectiveFlags[0].offers()) {
    const std::string option = "objective=" + name;
    EXPECT_TRUE(Read({option}).planner.objective.has_value()) << name;
  }
}

TEST(PlacingFlagsTest, ChoicesAreThoseOfThePlannerAndThePasses) {
  const auto refusal = [](absl::string_view option) {
    return std::string(
        Arguments::ParseKeys("model.onnx", {option}, kCompilationFlags)
            .status()
            .message());
  };
  EXPECT_EQ(refusal("strategy=pipelin").substr(0, 56),
            "strategy: found pipelin; expected one of: auto, single, ");
  EXPECT_EQ(refusal("skip=remove_ded").substr(0, 41),
            "skip: found remove_ded; expected one of: ");
  EXPECT_EQ(refusal("weights=embedded"),
            "weights: found embedded; expected one of: embed, reference; did "
            "you mean embed?");
  EXPECT_EQ(refusal("pipeline-schedule=zero"),
            "pipeline-schedule: found zero; expected one of: 1f1b, gpipe");
}

TEST(PlacingFlagsTest, APlanIsNamedAfterItsModel) {
  EXPECT_EQ(PlanNameOf("models/a.b.onnx"), "a.b");
  EXPECT_EQ(PlanNameOf("builtin:resnet50"), "resnet50");
  EXPECT_EQ(PlanNameOf("plain"), "plain");
}

}  // namespace
}  // namespace partita
