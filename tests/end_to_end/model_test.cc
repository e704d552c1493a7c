// Whole models over two and four virtual devices give the bits of one device.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "partita/remedy.h"
#include "placement/machine/sample_machines.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 30;

absl::StatusOr<Module> SmallPerceptron() {
  return TwoLayerPerceptron({.batch = 8, .inputs = 96, .hidden = 64});
}
absl::StatusOr<Module> ConvNet() { return SmallConvNet(); }
absl::StatusOr<Module> SmallResNet50() {
  return ResNet50({.image = 64, .classes = 10});
}

struct Model {
  const char* name;
  absl::StatusOr<Module> (*build)();
  int most_stages;
};
std::ostream& operator<<(std::ostream& out, const Model& model) {
  return out << model.name;
}

CompileOptions OverAll(const char* strategy, int stages) {
  CompileOptions options;
  options.strategy = strategy;
  if (options.strategy == "pipeline") options.planner.stages = stages;
  return options;
}

// The arithmetics of all kernels, one for each node.
std::multiset<std::string> ArithmeticsOf(const Plan& plan) {
  std::multiset<std::string> all;
  const Graph& graph = plan.module.main();
  for (const OpView& op : graph.ops()) {
    const Node& node = graph.node(op.id());
    if (!node.kernel.has_value() || op.is(kCopy) || op.is(kReorder)) continue;
    std::string text = absl::StrCat(node.kernel->kernel.ToString(), " ",
                                    ArithmeticsText(node.kernel->arithmetics));
    for (const ValueId operand : node.operands) {
      absl::StrAppend(&text, " ", graph.type(operand).ToString());
    }
    for (const ValueId result : node.results) {
      absl::StrAppend(&text, " -> ", graph.type(result).ToString());
    }
    all.insert(std::move(text));
  }
  return all;
}

// Equal bits if the arithmetics are equal; otherwise equal up to rounding.
void ExpectSame(const VirtualRun& run, bool same_arithmetics,
                const VirtualRun& alone) {
  EXPECT_EQ(SameBits(run.outputs, run.reference), absl::OkStatus());
  EXPECT_EQ(Close(run.outputs, alone.outputs, 1e-5, 1e-6), absl::OkStatus());
  if (!same_arithmetics) return;
  EXPECT_EQ(SameBits(run.outputs, alone.outputs), absl::OkStatus());
}

class Models : public testing::TestWithParam<Model> {};

TEST_P(Models, SameArithmeticsGiveTheBitsOfOneDevice) {
  const absl::StatusOr<Module> module = GetParam().build();
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<HostTensor> inputs = RandomInputs(module->main(), 1);
  absl::StatusOr<Compiled> alone =
      Compile(module->Clone(), EqualCpus(1, kRoom), {.strategy = "single"});
  ASSERT_TRUE(alone.ok()) << alone.status();
  const auto arithmetics = ArithmeticsOf(alone->plan);
  const absl::StatusOr<VirtualRun> expected =
      RunVirtually(std::move(alone->plan), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(SameBits(expected->outputs, expected->reference).ok());
  int plans_of_same_arithmetics = 0;
  for (const int devices : {2, 4}) {
    for (const char* strategy : {"pipeline", "list"}) {
      SCOPED_TRACE(absl::StrCat(strategy, " over ", devices));
      const int stages = std::min(devices, GetParam().most_stages);
      absl::StatusOr<Compiled> compiled =
          Compile(module->Clone(), EqualCpus(devices, kRoom),
                  OverAll(strategy, stages));
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      if (absl::string_view(strategy) == "pipeline") {
        EXPECT_GE(compiled->report.entries[0].copies, stages - 1);
      }
      const bool same = ArithmeticsOf(compiled->plan) == arithmetics;
      plans_of_same_arithmetics += same;
      const absl::StatusOr<VirtualRun> run =
          RunVirtually(std::move(compiled->plan), inputs);
      ASSERT_TRUE(run.ok()) << run.status();
      ExpectSame(*run, same, *expected);
    }
  }
  EXPECT_GE(plans_of_same_arithmetics, 2);
}

INSTANTIATE_TEST_SUITE_P(Examples, Models,
                         testing::Values(Model{"perceptron", SmallPerceptron,
                                               3},
                                         Model{"small_conv_net", ConvNet, 4},
                                         Model{"resnet50", SmallResNet50, 4}),
                         [](const testing::TestParamInfo<Model>& info) {
                           return std::string(info.param.name);
                         });

TEST(Chaos, AHundredInterleavingsGiveTheSameBits) {
  const absl::StatusOr<Module> module = SmallConvNet();
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<HostTensor> inputs = RandomInputs(module->main(), 2);
  absl::StatusOr<Compiled> compiled =
      Compile(module->Clone(), EqualCpus(4, kRoom), OverAll("pipeline", 4));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const absl::StatusOr<std::unique_ptr<Session>> session = VirtualSession(
      std::make_shared<const Plan>(std::move(compiled->plan)), inputs);
  ASSERT_TRUE(session.ok()) << session.status();
  const auto reference = (*session)->RunReference();
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto outputs = StepOutputs(**session, {.chaos_seed = seed});
    ASSERT_TRUE(outputs.ok()) << "chaos seed " << seed << outputs.status();
    ASSERT_EQ(SameBits(*outputs, *reference), absl::OkStatus())
        << "chaos seed " << seed;
  }
}

TEST(Memory, ADeviceThatIsTooSmallIsRefusedAndTheRemedyWorks) {
  const absl::StatusOr<Module> module = SmallPerceptron();
  ASSERT_TRUE(module.ok()) << module.status();
  const Machine machine = EqualCpus(2, 30 << 10);
  const auto refused =
      Compile(module->Clone(), machine, {.strategy = "single"});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  // The amount of workspace depends on the host's kernels.
  const std::string text(refused.status().message());
  const std::regex expected(
      R"(placement @mlp: found (3[1-3]\.\d) KiB needed on cpu:0 at \w+ %\w+, )"
      R"((\d\.\d) KiB too much; expected at most 30\.0 KiB; largest: )"
      R"(%[\w.]+ 24\.0 KiB \(constant\), %x 3\.0 KiB \(input\), )"
      R"(.*; try strategy .*, )"
      R"(or a machine with at least (\d+) (B|KiB) free on cpu:0)");
  std::smatch found;
  ASSERT_TRUE(std::regex_match(text, found, expected)) << text;
  EXPECT_NEAR(std::stod(found[1]) - std::stod(found[2]), 30, 0.101);
  const int64_t enough = std::stoll(found[3]) * (found[4] == "KiB" ? 1024 : 1);
  const auto alone_in = [&](int64_t memory) {
    return Compile(module->Clone(), EqualCpus(2, memory),
                   {.strategy = "single"})
        .status();
  };
  EXPECT_EQ(alone_in(enough), absl::OkStatus());
  EXPECT_FALSE(alone_in(enough - 1024).ok());
  const std::optional<Remedy> remedy = RemedyOf(refused.status());
  ASSERT_TRUE(remedy.has_value());
  absl::StatusOr<Compiled> compiled =
      Compile(module->Clone(), machine, {.strategy = remedy->strategy});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::vector<HostTensor> inputs = RandomInputs(module->main(), 3);
  const auto run = RunVirtually(std::move(compiled->plan), inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
}

}  // namespace
}  // namespace partita
