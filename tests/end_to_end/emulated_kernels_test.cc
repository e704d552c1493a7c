// The kernels that emulate GPU kernels on a host: they are as fast as those of
// a plan for the host itself, and none is a reference kernel.
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/builder/examples/models.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/host_capacity.h"
#include "graph/onnx/import.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "kernels/codegen/read_program.h"
#include "placement/machine/sample_machines.h"
#include "tests/end_to_end/bound_kernels.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

bool IsFull() { return std::getenv("PARTITA_FULL") != nullptr; }

absl::StatusOr<Plan> PlanForGpu(const Module& module) {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  absl::StatusOr<Compiled> compiled = Compile(
      module.Clone(), CpuAndGpus(1, int64_t{1} << 36), std::move(options));
  if (!compiled.ok()) return compiled.status();
  return std::move(compiled->plan);
}

// Nodes with more than one element that are bound only to reference kernels.
std::vector<std::string> SlowNodes(const Plan& plan) {
  const auto bound = KernelsOnVirtualDevices(plan);
  EXPECT_TRUE(bound.ok()) << bound.status();
  std::vector<std::string> slow;
  if (!bound.ok()) return slow;
  for (const BoundNode& node : *bound) {
    if (!IsSlow(node) || node.elements == 1) continue;
    slow.push_back(absl::StrCat(node.node, " by ", node.kernel.ToString(), " (",
                                node.arithmetic.ToString(), ")"));
  }
  return slow;
}

TEST(EmulatedKernels, AConvolutionWithAResidualRunsAsConvolutionAndLoop) {
  const auto module =
      ImportOnnx("tests/end_to_end/cases/conv_residual_emulated.onnx", {});
  ASSERT_TRUE(module.ok()) << module.status();
  auto plan = PlanForGpu(*module);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto bound = KernelsOnVirtualDevices(*plan);
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_EQ(bound->size(), 1u);
  // With AVX-512, oneDNN may compute it as one kernel.
  const KernelId& kernel = bound->front().kernel;
  EXPECT_TRUE(kernel == "unfused.onednn.conv+codegen.elementwise" ||
              kernel == "onednn.conv")
      << kernel;
  EXPECT_FALSE(IsSlow(bound->front()));
  const auto inputs = RandomInputs(module->main(), 1);
  const auto session =
      VirtualSession(std::make_shared<const Plan>(*std::move(plan)), inputs);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->notice(), "");  // no interpreter
  const auto outputs = StepOutputs(**session);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const auto expected = Evaluate(module->main(), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(Close(*outputs, *expected, 1e-5, 1e-5), absl::OkStatus());
}

// Emulation uses more than the least instruction set of a plan.
TEST(EmulatedKernels, LoopsUseTheHostsBestInstructions) {
  const std::vector<std::string> usable = UsableIsas();
  ASSERT_FALSE(usable.empty());
  const auto module = ParseModule(R"(
graph @main(%x: f32[8, 9], %z: f32[8, 9]) -> f32[8, 9] {
  %a = mul %x, %z : f32[8, 9]
  %t = tanh %a : f32[8, 9]
  %y = sub %t, %x : f32[8, 9]
  return %y
})",
                                  "f", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto plan = PlanForGpu(*module);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto bound = KernelsOnVirtualDevices(*plan);
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_EQ(bound->size(), 1u);
  EXPECT_EQ(bound->front().kernel, "codegen.elementwise");
  EXPECT_EQ(bound->front().arithmetic, CodegenArithmetic(usable.front()));
}

// A product with the weights %w.
struct Root {
  const char* name;
  const char* x;
  const char* w;
  const char* op;
  const char* result;
};
std::ostream& operator<<(std::ostream& out, const Root& root) {
  return out << root.name;
}

// Elementwise ops after a product %p, with an operand %r of its extents. T is
// the type.
constexpr const char* kEpilogues[] = {
    "%y = relu %p : T",
    "%a = relu %p : T\n %y = add %a, %r : T",
    "%a = add %p, %r : T\n %y = relu %a : T",
    "%a = tanh %p : T\n %b = mul %r, %a : T\n %y = add %b, %r : T",
    "%a = mul %p, %r : T\n %b = sigmoid %a : T\n %y = mul %b, %r : T",
    "%a = gelu %p {tanh = false} : T\n %y = add %r, %a : T",
    "%a = elu %p {alpha = 0.5} : T\n %b = add %a, %r : T\n %y = silu %b : T",
    "%a = hard_swish %p : T\n %y = mul %a, %r : T",
    "%a = clip %p {max = 1, min = -1} : T\n %y = add %a, %r : T",
    "%a = leaky_relu %p {alpha = 0.1} : T\n %y = add %a, %r : T",
};

// A separate product before each epilogue, so that each is fused.
std::string GraphOf(const Root& root, const std::string& dtype) {
  const std::string result = absl::StrCat(dtype, root.result);
  std::vector<std::string> inputs = {absl::StrCat("%x: ", dtype, root.x),
                                     absl::StrCat("%r: ", result)};
  std::vector<std::string> results, outputs;
  std::string ops;
  for (const char* epilogue : kEpilogues) {
    const std::string i = absl::StrCat(outputs.size());
    inputs.push_back(absl::StrCat("%w", i, ": ", dtype, root.w));
    const std::string text =
        absl::StrCat("%p = ", root.op, " : T\n ", epilogue, "\n ");
    absl::StrAppend(&ops, absl::StrReplaceAll(text, {{"%w", "%w" + i},
                                                     {"%p", "%p" + i},
                                                     {"%a", "%a" + i},
                                                     {"%b", "%b" + i},
                                                     {"%y", "%y" + i},
                                                     {": T", ": " + result}}));
    results.push_back("%y" + i);
    outputs.push_back(result);
  }
  return absl::StrCat("graph @main(", absl::StrJoin(inputs, ", "), ") -> (",
                      absl::StrJoin(outputs, ", "), ") {\n ", ops, "return ",
                      absl::StrJoin(results, ", "), "\n}\n");
}

class Epilogues : public testing::TestWithParam<Root> {};

TEST_P(Epilogues, AreComputedByFastKernelsInAnyOrder) {
  const auto module =
      ParseModule(GraphOf(GetParam(), "f32"), "f", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto plan = PlanForGpu(*module);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->module.main().ops(kFused).size(), std::size(kEpilogues));
  EXPECT_EQ(absl::StrJoin(SlowNodes(*plan), "\n"), "");
}

TEST_P(Epilogues, GiveEvalsNumbers) {
  const auto module =
      ParseModule(GraphOf(GetParam(), "f32"), "f", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  auto plan = PlanForGpu(*module);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto inputs = RandomInputs(module->main(), 1);
  const auto run = RunVirtually(*std::move(plan), inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
  const auto expected = Evaluate(module->main(), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(Close(run->outputs, *expected, 1e-4, 1e-4), absl::OkStatus());
}

// Products take most of the time. Elementwise ops on 16-bit floats have only
// eval, also on CPUs.
TEST_P(Epilogues, OfHalvesLeaveTheProductToAFastKernel) {
  for (const char* dtype : {"bf16", "f16"}) {
    const auto module =
        ParseModule(GraphOf(GetParam(), dtype), "f", OpSet::BuiltIn());
    ASSERT_TRUE(module.ok()) << module.status();
    const auto plan = PlanForGpu(*module);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(absl::StrJoin(SlowNodes(*plan), "\n"), "") << dtype;
  }
}

constexpr char kPads[] =
    "conv %x, %w {dilations = [1, 1], pads_after = [1, 1], pads_before = "
    "[1, 1], strides = [1, 1]}";

INSTANTIATE_TEST_SUITE_P(
    Roots, Epilogues,
    testing::Values(
        Root{"conv", "[1, 16, 9, 9]", "[16, 16, 3, 3]", kPads, "[1, 16, 9, 9]"},
        Root{"odd_conv", "[2, 3, 9, 9]", "[19, 3, 3, 3]", kPads,
             "[2, 19, 9, 9]"},
        Root{"depthwise", "[1, 16, 9, 9]", "[16, 1, 3, 3]",
             "conv %x, %w {groups = 16}", "[1, 16, 7, 7]"},
        Root{"groups", "[1, 16, 9, 9]", "[8, 8, 1, 1]",
             "conv %x, %w {groups = 2}", "[1, 8, 9, 9]"},
        Root{"conv_1d", "[2, 8, 33]", "[16, 8, 5]", "conv %x, %w",
             "[2, 16, 29]"},
        Root{"conv_3d", "[1, 4, 5, 6, 7]", "[8, 4, 3, 3, 3]", "conv %x, %w",
             "[1, 8, 3, 4, 5]"},
        Root{"matmul", "[7, 33]", "[33, 20]", "matmul %x, %w", "[7, 20]"},
        Root{"transposed", "[7, 33]", "[20, 33]",
             "matmul %x, %w {transpose_b = true}", "[7, 20]"},
        Root{"batched", "[3, 7, 33]", "[3, 33, 20]", "matmul %x, %w",
             "[3, 7, 20]"}),
    [](const testing::TestParamInfo<Root>& info) {
      return std::string(info.param.name);
    });

// Some of the models, or all with PARTITA_FULL set.
std::vector<absl::StatusOr<Module>> Models() {
  std::vector<absl::StatusOr<Module>> models;
  models.push_back(SmallConvNet());
  models.push_back(MnistTraining({.batch = 8}));
  models.push_back(GptTraining({.batch = 2, .layers = 1, .dropout = 0.1}));
  if (!IsFull()) return models;
  models.push_back(TwoLayerPerceptron());
  models.push_back(ResNet50({.image = 32}));
  models.push_back(ResNet18Training({.batch = 2, .width = 16}));
  models.push_back(LstmTraining({.batch = 4, .context = 4}));
  return models;
}

TEST(EmulatedKernels, OfModelsAreFastExceptForSingleNumbers) {
  for (const absl::StatusOr<Module>& module : Models()) {
    ASSERT_TRUE(module.ok()) << module.status();
    const auto plan = PlanForGpu(*module);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(absl::StrJoin(SlowNodes(*plan), "\n"), "");
  }
}

}  // namespace
}  // namespace partita
