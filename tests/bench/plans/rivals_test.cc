// Tests of the rivals of auto: which there are, and that they are planned.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/rivals.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "graph/builder/examples/models.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kAmple = int64_t{64} << 30;

std::string Names(const std::vector<Rival>& rivals) {
  return absl::StrJoin(rivals, " ", [](std::string* text, const Rival& rival) {
    *text += rival.name;
  });
}

TEST(Rivals, AnInferenceOnTwoCpus) {
  const auto module = TwoLayerPerceptron();
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(Names(RivalsOf(*module, EqualCpus(2, kAmple))),
            "single_cpu:0 single_cpu:1 data_2 pipeline_2 list search whole_2 "
            "split0_2 split1_2 layers_2");
}

TEST(Rivals, ATrainingStepHasMicroBatchesAndLayers) {
  const auto module = MnistTraining();
  ASSERT_TRUE(module.ok());
  const auto rivals = RivalsOf(*module, CpuAndGpus(2, kAmple));
  EXPECT_EQ(Names(rivals),
            "single_cpu:0 single_gpu:0 single_gpu:1 data_2 data_2_sharded "
            "data_2_2 data_2_4 data_2_8 pipeline_2 pipeline_2_1f1b_2 "
            "pipeline_2_gpipe_2 pipeline_2_1f1b_4 pipeline_2_gpipe_4 "
            "pipeline_2_1f1b_8 pipeline_2_gpipe_8 pipeline_3 "
            "pipeline_3_1f1b_2 pipeline_3_gpipe_2 pipeline_3_1f1b_4 "
            "pipeline_3_gpipe_4 pipeline_3_1f1b_8 pipeline_3_gpipe_8 list "
            "search whole_2 split0_2 split1_2 layers_2 layers_3");
  // The layout of docs/guide/model_parallel.md.
  const auto layout = absl::c_find_if(
      rivals, [](const Rival& rival) { return rival.name == "layers_2"; });
  for (const Pin& pin : layout->options.pins) {
    EXPECT_EQ(pin.devices[0],
              pin.pattern.starts_with("conv") ? "gpu:0" : "gpu:1")
        << pin.pattern;
  }
}

TEST(Rivals, AnEmbeddingMayBeOnTheCpu) {
  const auto module = LstmTraining({.batch = 8, .width = 16, .context = 4});
  ASSERT_TRUE(module.ok());
  const auto rivals = RivalsOf(*module, CpuAndGpus(1, kAmple));
  ASSERT_EQ(rivals.back().name, "hybrid");
  std::set<std::string> devices;
  for (const Pin& pin : rivals.back().options.pins) {
    devices.insert(pin.devices[0]);
    EXPECT_EQ(pin.devices[0] == "cpu:0", pin.pattern.starts_with("embedding"));
  }
  EXPECT_EQ(devices.size(), 2u);
}

// The layout of docs/internals/how_a_graph_runs.md.
TEST(Rivals, AGraphWithoutScopesHasALayerForEachNode) {
  const auto module = ParseModule(R"(
graph @g(%x: f32[2, 4], %w: f32[4, 4]) -> f32[2, 4] {
  %h = matmul %x, %w : f32[2, 4]
  %y = relu %h : f32[2, 4]
  return %y
}
)",
                                  "two nodes", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto rivals = RivalsOf(*module, EqualCpus(2, kAmple));
  ASSERT_EQ(rivals.back().name, "layers_2");
  ASSERT_EQ(rivals.back().options.pins.size(), 2u);
  EXPECT_EQ(rivals.back().options.pins[0].pattern, "h");
  EXPECT_EQ(rivals.back().options.pins[1].devices[0], "cpu:1");
}

// A perceptron on three machines: all rivals have plans.
TEST(Rivals, ArePlanned) {
  const auto module = TwoLayerPerceptron();
  ASSERT_TRUE(module.ok());
  for (const Machine& machine :
       {EqualCpus(2, kAmple), CpuAndGpus(1, kAmple), CpuAndGpus(2, kAmple)}) {
    for (const Rival& rival : RivalsOf(*module, machine)) {
      const auto step = PlanStep(*module, machine, rival.options);
      ASSERT_TRUE(step.ok()) << rival.name << ": " << step.status();
      EXPECT_GT(step->seconds, 0) << rival.name;
    }
  }
}

TEST(Rivals, LittleMemoryIsARefusal) {
  const auto module = TwoLayerPerceptron();
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(PlanStep(*module, EqualCpus(2, 1), {}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(Rivals, NamesAreKeys) {
  const auto module = MnistTraining();
  ASSERT_TRUE(module.ok());
  std::set<std::string> names;
  const auto rivals = RivalsOf(*module, CpuAndGpus(4, kAmple));
  for (const Rival& rival : rivals) names.insert(rival.name);
  EXPECT_EQ(names.size(), rivals.size());
}

}  // namespace
}  // namespace partita
