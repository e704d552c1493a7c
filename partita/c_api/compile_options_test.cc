// Every option of a compilation, and every value that is refused.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/compile_options.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "partita/c_api/option_values.h"

namespace partita::c_api {
namespace {

using Texts = std::vector<absl::string_view>;

CompileSettings Read(const Texts& options) {
  auto settings = ReadCompileOptions(options);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.ok() ? *settings : CompileSettings();
}

std::string Refusal(const Texts& options) {
  const auto settings = ReadCompileOptions(options);
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(settings.status().message());
}

TEST(CompileOptionsTest, WithoutOptionsThereAreTheDefaults) {
  const CompileSettings settings = Read({});
  EXPECT_EQ(settings.machine_file, "");
  EXPECT_EQ(settings.compile.strategy, "auto");
  EXPECT_EQ(settings.compile.depth, 1);
  EXPECT_FALSE(settings.compile.micro_batches.has_value());
  EXPECT_EQ(settings.file.weights, WeightStorage::kEmbed);
}

TEST(CompileOptionsTest, OptionsAreRead) {
  const CompileSettings settings = Read(
      {"machine=a=b.json", "strategy=search", "bucket-size=2",
       "output-device=cpu:0", "micro-batches=4", "batch-input=x",
       "batch-input=t", "pipeline-schedule=gpipe", "depth=3",
       "weights=reference", "passes=2", "skip=remove_dead", "dump=/tmp/d"});
  EXPECT_EQ(settings.machine_file, "a=b.json");
  const CompileOptions& compile = settings.compile;
  EXPECT_EQ(compile.strategy, "search");
  EXPECT_EQ(compile.bucket_bytes, 2 << 20);
  EXPECT_EQ(compile.output_device, "cpu:0");
  EXPECT_EQ(compile.micro_batches, 4);
  EXPECT_EQ(compile.batch_inputs, (std::vector<std::string>{"x", "t"}));
  EXPECT_EQ(compile.schedule, PipelineSchedule::kGPipe);
  EXPECT_EQ(compile.depth, 3);
  EXPECT_EQ(settings.file.weights, WeightStorage::kReference);
  EXPECT_EQ(compile.passes.stop_after, 2);
  EXPECT_EQ(compile.passes.skip, (std::vector<std::string>{"remove_dead"}));
  EXPECT_EQ(compile.passes.dump_folder, "/tmp/d");
}

TEST(CompileOptionsTest, OptionsOfStrategiesAreRead) {
  const PlannerOptions planner =
      Read({"sharded-updates=4", "time-budget=2", "evaluations=7",
            "objective=memory:0.5", "most-devices=3"})
          .compile.planner;
  EXPECT_EQ(planner.sharded_update_bytes, 4096);
  EXPECT_EQ(planner.time_budget_ms, 2000);
  EXPECT_EQ(planner.evaluations, 7);
  EXPECT_EQ(planner.most_devices, 3);
  EXPECT_EQ(planner.objective->goal, Goal::kMemory);
  EXPECT_EQ(planner.objective->most_step_seconds, 0.5);
}

TEST(CompileOptionsTest, PinsAndConstraintsAreRead) {
  const CompileOptions compile =
      Read({"pin=a*=gpu:0,gpu:1/split2", "pin=b=cpu:0", "together=a*,b",
            "apart=a,b"})
          .compile;
  ASSERT_EQ(compile.pins.size(), 2u);
  EXPECT_EQ(compile.pins[0].pattern, "a*");
  EXPECT_EQ(compile.pins[0].devices,
            (std::vector<std::string>{"gpu:0", "gpu:1"}));
  EXPECT_EQ(compile.pins[0].dim, 2);
  EXPECT_EQ(compile.pins[1].dim, -1);
  ASSERT_EQ(compile.planner.constraints.size(), 2u);
  EXPECT_EQ(compile.planner.constraints[0].kind, Constraint::Kind::kTogether);
  EXPECT_EQ(compile.planner.constraints[1].kind, Constraint::Kind::kApart);
}

TEST(CompileOptionsTest, OptionsOfModelsAreRead) {
  const ImportOptions import =
      Read({"dim=batch=8", "shape=x=1,3", "shape=s=scalar", "bind=n=4,2.5",
            "bind=none=", "strict-types=true"})
          .import;
  EXPECT_EQ(import.dims.at("batch"), 8);
  EXPECT_EQ(import.shapes.at("x"), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(import.shapes.at("s").empty());
  EXPECT_EQ(import.values.at("n").size(), 2u);
  EXPECT_TRUE(import.values.at("none").empty());
  EXPECT_TRUE(import.strict_types);
}

TEST(CompileOptionsTest, IeeeLeavesOutFusedEpilogues) {
  EXPECT_FALSE(Read({"ieee=false"}).compile.ieee);
  const CompileOptions compile = Read({"ieee=true"}).compile;
  EXPECT_TRUE(compile.ieee);
  EXPECT_EQ(compile.passes.skip, (std::vector<std::string>{"fuse_epilogue"}));
}

TEST(CompileOptionsTest, AnOptionOfOneStrategyImpliesIt) {
  EXPECT_EQ(Read({"stages=2"}).compile.strategy, "pipeline");
  EXPECT_EQ(Read({"device=cpu:0"}).compile.strategy, "single");
  EXPECT_EQ(Refusal({"stages=2", "replicas=2"}),
            "stages: found it, which means strategy=pipeline, with replicas, "
            "which means strategy=data; expected one of them");
}

TEST(CompileOptionsTest, UnknownKeysAreRefusedWithTheNearest) {
  const std::string refusal = Refusal({"micro-batch=2"});
  EXPECT_EQ(refusal.substr(0, 55),
            "micro-batch: found no such option; expected one of: mac");
  EXPECT_TRUE(absl::EndsWith(refusal, "; did you mean micro-batches?"))
      << refusal;
}

TEST(CompileOptionsTest, WrongValuesAreRefused) {
  const std::vector<std::pair<absl::string_view, std::string>> wrong = {
      {"depth", "option depth: found no =; expected KEY=VALUE, as in depth=2"},
      {"depth=", "depth: found no value; expected an integer in 1..64"},
      {"depth=0", "depth: found 0; expected an integer in 1..64"},
      {"depth=2.5", "depth: found 2.5; expected an integer in 1..64"},
      {"micro-batches=99999999999999999999",
       "micro-batches: found 99999999999999999999; expected an integer in "
       "1..4096"},
      {"ieee=yes", "ieee: found yes; expected true or false"},
      {"weights=embedded",
       "weights: found embedded; expected one of: embed, reference; did you "
       "mean embed?"},
      {"pipeline-schedule=zero",
       "pipeline-schedule: found zero; expected one of: 1f1b, gpipe"},
      {"machine=",
       "machine: found no value; expected the name of a machine "
       "file"},
      {"pin=a", "pin: found a; expected NAME=VALUE"},
      {"pin=a=gpu:0/half",
       "pin: found a=gpu:0/half; expected PATTERN=DEVICES, and how to split "
       "nodes over them, as in h=gpu:0,gpu:1/split0"},
      {"pin=a=gpu:0,",
       "pin: found a=gpu:0,; expected PATTERN=DEVICES, and how to split nodes "
       "over them, as in h=gpu:0,gpu:1/split0"},
      {"apart=a",
       "apart: found a; expected at least 2 patterns, none of them "
       "empty, as in encoder,decoder"},
      {"together=a,",
       "together: found a,; expected at least 1 patterns, none of them empty, "
       "as in encoder*"},
      {"dim=batch=many",
       "dim: found many; expected an integer in 0..9223372036854775807"},
      {"dim=8", "dim: found 8; expected NAME=VALUE"},
      {"shape=x=1,b", "shape: found 1,b; expected integers, as in 1,3,224,224"},
      {"bind=x=b", "bind: found b; expected numbers, as in 1,2.5"},
      {"stages=0", "stages: found 0; expected an integer in 1..65536"},
      {"device=", "device: found no value; expected NAME"},
      {"output-device=", "output-device: found no value; expected a device"},
      {"batch-input=",
       "batch-input: found no value; expected the name of an input"},
      {"dump=", "dump: found no value; expected a folder"},
      {"objective=speed",
       "objective: found speed; expected latency, throughput, memory, or "
       "memory:SECONDS with the seconds that a step may take, as in "
       "memory:0.01"},
  };
  for (const auto& [option, message] : wrong) {
    EXPECT_EQ(Refusal({option}), message);
  }
}

TEST(CompileOptionsTest, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_EQ(NearestName("remove_ded", {"fold", "remove_dead"}),
            "; did you mean remove_dead?");
  EXPECT_EQ(NearestName("x", {"fold", "remove_dead"}), "");
  const std::string strategy = Refusal({"strategy=pipelin"});
  EXPECT_EQ(strategy.substr(0, 56),
            "strategy: found pipelin; expected one of: auto, single, ");
  const std::string pass = Refusal({"skip=remove_ded"});
  EXPECT_EQ(pass.substr(0, 41), "skip: found remove_ded; expected one of: ");
}

TEST(CompileOptionsTest, OptionsThatDoNotRepeatAreGivenOnce) {
  EXPECT_EQ(Refusal({"depth=1", "depth=2"}),
            "depth: found it twice, now as 2; expected it once");
  EXPECT_EQ(Refusal({"stages=1", "stages=2"}),
            "stages: found it twice, now as 2; expected it once");
  EXPECT_EQ(Refusal({"dim=b=1", "dim=b=2"}),
            "dim: found b twice; expected one value for it");
}

}  // namespace
}  // namespace partita::c_api
