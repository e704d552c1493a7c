// What Compile refuses before it looks at the model, one case for each message.
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/ops/op_set.h"
#include "graph/option_error.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/compile.h"

namespace partita {
namespace {

Machine OneCpu() {
  return *ParseMachine(R"({"name": "m", "devices": [{
      "name": "cpu:0", "kind": "cpu", "memory": "64 MiB", "threads": 1,
      "isa": "avx2", "peak_flops": {"f32": 1e9}, "memory_bandwidth": 1e9,
      "launch_seconds": 1e-6}], "links": []})",
                       "m.json");
}

struct Case {
  std::function<void(CompileOptions& options, Machine& machine)> spoil;
  std::string message;
};

TEST(CompileRequest, RefusesInItsOwnWordsAndNamesNoFlag) {
  const Case cases[] = {
      {[](CompileOptions& options, Machine&) { options.strategy = "magic"; },
       "strategy magic: found no such strategy; expected one of: auto, single"},
      {[](CompileOptions& options, Machine&) { options.depth = 65; },
       "depth: found 65; expected 1..64"},
      {[](CompileOptions& options, Machine&) {
         options.planner.device = "cpu:0";
       },
       "device: found with strategy auto, which does not read it; "
       "expected strategy single"},
      {[](CompileOptions& options, Machine&) {
         options.strategy = "list";
         options.planner.stages = 2;
       },
       "stages: found with strategy list, which does not read it; "
       "expected strategy pipeline"},
      {[](CompileOptions& options, Machine&) {
         options.strategy = "list";
         options.planner.replicas = 2;
       },
       "replicas: found with strategy list, which does not read it; "
       "expected strategy data"},
      {[](CompileOptions& options, Machine&) {
         options.strategy = "data";
         options.planner.replicas = 0;
       },
       "replicas: found 0; expected 1..65536"},
      {[](CompileOptions& options, Machine&) {
         options.planner.sharded_update_bytes = -1;
       },
       "sharded-updates: found -1; expected 0..1099511627776"},
      {[](CompileOptions& options, Machine&) {
         options.output_device = "cpu:9";
       },
       "output-device cpu:9: found no such device in this machine; expected "
       "one of cpu:0"},
      {[](CompileOptions& options, Machine&) { options.micro_batches = 0; },
       "micro-batches: found 0; expected 1..4096"},
      {[](CompileOptions& options, Machine&) {
         options.schedule = PipelineSchedule::kGPipe;
       },
       "pipeline-schedule: found one without micro-batches; expected two or "
       "more micro-batches"},
      {[](CompileOptions& options, Machine&) {
         options.strategy = "single";
         options.planner.objective = ObjectiveChoice{Goal::kThroughput};
       },
       "objective: found with strategy single, which does not read it; "
       "expected strategy auto or search"},
      {[](CompileOptions& options, Machine&) {
         options.strategy = "list";
         options.bucket_bytes = 1;
       },
       "bucket-size: found with strategy list, where no gradients are "
       "reduced; expected strategy data, search or auto on several devices, or "
       "pins to several; leave it out"},
      {[](CompileOptions& options, Machine&) { options.bucket_bytes = 1; },
       "bucket-size: found with a machine of one device, where no"},
      {[](CompileOptions&, Machine& machine) { machine.devices.clear(); },
       "machine m: found no device; expected at least one"},
      {[](CompileOptions& options, Machine&) {
         options.passes.skip = {"remove_all"};
       },
       "skipped pass remove_all: found no such pass; expected one of: "
       "remove_dead"},
  };
  for (const Case& c : cases) {
    CompileOptions options;
    Machine machine = OneCpu();
    c.spoil(options, machine);
    const auto compiled = Compile(*TwoLayerPerceptron(), machine, options);
    ASSERT_FALSE(compiled.ok()) << c.message;
    EXPECT_EQ(compiled.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(compiled.status().message()).find(c.message),
              std::string::npos)
        << compiled.status();
    const std::string option = OptionOf(compiled.status());
    EXPECT_EQ(c.message.substr(0, option.size()), option);
    EXPECT_EQ(option.empty(), c.message.find("machine m") == 0 ||
                                  c.message.find("skipped pass") == 0)
        << c.message;
  }
}

TEST(CompileRequest, KnowsItsStages) {
  const auto text = CompileTo("lunch", *TwoLayerPerceptron(), OneCpu(), {});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(std::string(text.status().message()),
            "stage lunch: found no such stage; expected optimised, placed, "
            "kernels or plan");
}

// Compile's error for a graph of this text.
std::string ErrorOf(const std::string& text) {
  auto module = ParseModule(text, "f.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return std::string(
      Compile(*std::move(module), OneCpu(), {}).status().message());
}

TEST(CompileRequest, RefusesWhatOnlyCompilingPutsIntoGraphs) {
  for (const char* node :
       {"copy %x", "reorder %x", "accumulate %x {micro_batches = 2}"}) {
    const std::string op(
        absl::string_view(node).substr(0, absl::string_view(node).find(' ')));
    EXPECT_EQ(
        ErrorOf(absl::StrCat("graph @f(%x: f32[4]) -> f32[4] {\n  %y = ", node,
                             " : f32[4]\n  return %y\n}\n")),
        absl::StrCat(
            "@f: ", op, " %y: found ", op,
            ", which only the compiler inserts; expected none; remove it"));
  }
}

TEST(CompileRequest, RefusesVariablesWithoutAnInitialValue) {
  EXPECT_EQ(ErrorOf("variable @w: f32[4]\n"
                    "graph @f(%x: f32[4]) -> f32[4] {\n"
                    "  update @w = %x\n  return %x\n}\n"),
            "variable @w: found no initial value; expected one of f32[4]; "
            "write `= f32[4] [...]` after its type");
}

TEST(CompileRequest, RefusesLayouts) {
  EXPECT_EQ(ErrorOf("graph @f(%x: f32[4, 4]{ba}) -> f32[4, 4]{ba} {\n"
                    "  return %x\n}\n"),
            "@f: input %x: found layout ba; expected row-major, as layouts are "
            "chosen while compiling; leave it out");
  EXPECT_EQ(ErrorOf("graph @f(%x: f32[4, 4]) -> f32[4, 4]{ba} {\n"
                    "  %y = neg %x : f32[4, 4]{ba}\n  return %y\n}\n"),
            "@f: neg %y: found layout ba; expected row-major, as layouts are "
            "chosen while compiling; leave it out");
}

}  // namespace
}  // namespace partita
