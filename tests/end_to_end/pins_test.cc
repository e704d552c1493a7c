// Pins from compilation to execution: a convolution and the relu after it run
// where the user pinned them, with every strategy.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"
#include "tools/partita/compare.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 28;

constexpr char kConvRelu[] = R"(
graph @f(%x: f32[4, 2, 8, 8], %w: f32[3, 2, 3, 3]) -> f32[4, 3, 6, 6] {
  %c = conv %x, %w : f32[4, 3, 6, 6]
  %r = relu %c : f32[4, 3, 6, 6]
  return %r
}
)";

Module ModuleOf(absl::string_view text) {
  absl::StatusOr<Module> module = ParseModule(text, "f", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// "conv %c cpu:0, relu %r cpu:1": the computing nodes, without transfers.
std::string Computed(const Plan& plan) {
  std::vector<std::string> nodes;
  for (const OpView& op : plan.module.main().ops()) {
    if (op.op().traits.placed_only || op.num_operands() == 0) continue;
    nodes.push_back(absl::StrCat(
        op.ToString(), " ", absl::StrJoin(op.node().placement.devices, "+")));
  }
  return absl::StrJoin(nodes, ", ");
}

VariableValues InitialValues(const Module& module) {
  VariableValues values;
  for (const Variable& variable : module.variables()) {
    values[variable.name] = &module.literals().tensor(variable.initial);
  }
  return values;
}

// The placement that this strategy finds on two CPUs. Runs and compares the
// plan.
std::string Compiled2(absl::string_view text, std::vector<Pin> pins,
                      const std::string& strategy) {
  const Module module = ModuleOf(text);
  CompileOptions options;
  options.strategy = strategy;
  options.pins = std::move(pins);
  absl::StatusOr<Compiled> compiled =
      Compile(module.Clone(), EqualCpus(2, kRoom), options);
  if (!compiled.ok()) return std::string(compiled.status().message());
  const std::string computed = Computed(compiled->plan);
  const std::vector<HostTensor> inputs = RandomInputs(module.main(), 1);
  const auto run = RunVirtually(std::move(compiled->plan), inputs);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return computed;
  EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
  const auto expected = Evaluate(module.main(), inputs, InitialValues(module));
  EXPECT_TRUE(expected.ok()) << expected.status();
  if (!expected.ok()) return computed;
  EXPECT_EQ(Close(run->outputs, *expected, 1e-5, 1e-5), absl::OkStatus());
  return computed;
}

TEST(Pins, AConvolutionAndItsReluRunWhereTheyArePinned) {
  for (const char* strategy :
       {"auto", "single", "pinned", "pipeline", "list", "search"}) {
    SCOPED_TRACE(strategy);
    EXPECT_EQ(
        Compiled2(kConvRelu, {{"c", {"cpu:0"}}, {"r", {"cpu:1"}}}, strategy),
        "conv %c cpu:0, relu %r cpu:1");
    EXPECT_EQ(
        Compiled2(kConvRelu, {{"c", {"cpu:1"}}, {"r", {"cpu:1"}}}, strategy),
        "fused %r cpu:1");
    // A pin of either node holds for both, because no pin separates them.
    EXPECT_EQ(Compiled2(kConvRelu, {{"c", {"cpu:1"}}}, strategy),
              "fused %r cpu:1");
    EXPECT_EQ(Compiled2(kConvRelu, {{"r", {"cpu:1"}}}, strategy),
              "fused %r cpu:1");
  }
}

// Otherwise its bytes would move there and back in every step.
TEST(Pins, AVariableIsStoredWhereItsLayerIsPinned) {
  constexpr char kStep[] = R"(
variable @w: f32[4, 3] = f32[4, 3] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

graph @train(%x: f32[5, 4]) -> f32[5, 3] {
  %w = variable {dtype = f32, name = "w", shape = [4, 3]} : f32[4, 3]
  %y = matmul %x, %w : f32[5, 3]
  %xt = transpose %x {perm = [1, 0]} : f32[4, 5]
  %g = matmul %xt, %y : f32[4, 3]
  %n = sub %w, %g : f32[4, 3]
  update @w = %n
  %z = exp %y : f32[5, 3]
  return %z
}
)";
  for (const char* strategy :
       {"auto", "single", "pinned", "data", "pipeline", "list", "search"}) {
    SCOPED_TRACE(strategy);
    CompileOptions options;
    options.strategy = strategy;
    options.pins = {{"y", {"cpu:1"}}, {"g", {"cpu:1"}}, {"n", {"cpu:1"}}};
    const auto compiled =
        Compile(ModuleOf(kStep), EqualCpus(2, kRoom), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    for (const OpView& variable : compiled->plan.module.main().ops(kVariable)) {
      EXPECT_EQ(absl::StrJoin(variable.node().placement.devices, " "), "cpu:1");
    }
  }
}

// One device then holds both its shard and the whole variable.
TEST(Pins, AVariableMayBeReadShardedAndWhole) {
  constexpr char kBoth[] = R"(
variable @w: f32[4, 2] = f32[4, 2] [1, 2, 3, 4, 5, 6, 7, 8]

graph @f(%x: f32[4, 4]) -> (f32[4, 2], f32[4, 2]) {
  %w = variable {dtype = f32, name = "w", shape = [4, 2]} : f32[4, 2]
  %n = neg %w : f32[4, 2]
  %y = matmul %x, %w : f32[4, 2]
  return %n, %y
}
)";
  for (const char* strategy : {"auto", "pinned", "list"}) {
    EXPECT_EQ(Compiled2(kBoth, {{"n", {"cpu:0", "cpu:1"}, 0}, {"y", {"cpu:1"}}},
                        strategy),
              "neg %n cpu:0+cpu:1, matmul %y cpu:1");
  }
}

TEST(Pins, DeviceSetsHoldThroughFusion) {
  const std::vector<std::string> both = {"cpu:0", "cpu:1"};
  EXPECT_EQ(Compiled2(kConvRelu, {{"*", both, 0}}, "list"),
            "fused %r cpu:0+cpu:1");
  EXPECT_EQ(Compiled2(kConvRelu, {{"?", both}}, "list"),
            "fused %r cpu:0+cpu:1");
  EXPECT_EQ(Compiled2(kConvRelu, {{"c", both, 0}, {"r", {"cpu:1"}}}, "list"),
            "conv %c cpu:0+cpu:1, relu %r cpu:1");
  EXPECT_EQ(Compiled2(kConvRelu, {{"c", both, 0}, {"r", both, 1}}, "list"),
            "conv %c cpu:0+cpu:1, relu %r cpu:0+cpu:1");
}

// The number of different arithmetics of the convolution's kernels on two
// unlike devices.
int NumArithmetics(const Pin& pin) {
  Machine unlike = EqualCpus(2, kRoom);
  unlike.devices[0].traits.threads = 2;
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = {pin, {"r", {"cpu:0"}}};
  const auto compiled = Compile(ModuleOf(kConvRelu), unlike, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return 0;
  for (const OpView& conv : compiled->plan.module.main().ops(kConv)) {
    EXPECT_EQ(conv.node().placement.devices.size(), 2u);
    return static_cast<int>(conv.node().kernel->arithmetics.size());
  }
  return 0;
}

// Otherwise variables that are updated from them would diverge.
TEST(Pins, CopiesOnUnlikeDevicesHaveTheSameBits) {
  const std::vector<std::string> both = {"cpu:0", "cpu:1"};
  EXPECT_EQ(NumArithmetics({"c", both}), 1);
  EXPECT_EQ(NumArithmetics({"c", both, 0}), 2);
}

TEST(Pins, PinsInTheTextAreKeptToo) {
  const std::string text(kConvRelu);
  std::string apart = text;
  apart.insert(apart.find("\n  %r"), " on cpu:1");
  apart.insert(apart.find("\n  return"), " on {cpu:0, cpu:1} -> (split 1)");
  EXPECT_EQ(Compiled2(apart, {}, "auto"), "conv %c cpu:1, relu %r cpu:0+cpu:1");
  EXPECT_EQ(Compiled2(apart, {{"*", {"cpu:0"}}}, "pinned"),
            "conv %c cpu:1, relu %r cpu:0+cpu:1");
}

TEST(Pins, EqualBranchesOnDifferentPinsAreBothComputed) {
  constexpr char kTwice[] = R"(
graph @f(%x: f32[64]) -> (f32[64], f32[64]) {
  %a = exp %x : f32[64]
  %b = exp %x : f32[64]
  return %a, %b
}
)";
  EXPECT_EQ(Compiled2(kTwice, {{"a", {"cpu:0"}}, {"b", {"cpu:1"}}}, "list"),
            "exp %a cpu:0, exp %b cpu:1");
}

TEST(Pins, PinsOfRemovedNodesAreReportedWithoutAnError) {
  constexpr char kIdle[] = R"(
graph @f(%x: f32[4]) -> f32[4] {
  %one = constant f32[] 1
  %folded = exp %one : f32[]
  %same = mul %x, %one : f32[4]
  %unread = exp %x : f32[4]
  %y = mul %same, %folded : f32[4]
  return %y
}
)";
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = {{"folded", {"cpu:1"}},
                  {"same", {"cpu:0"}},
                  {"unread", {"cpu:1"}},
                  {"y", {"cpu:1"}}};
  const auto compiled = Compile(ModuleOf(kIdle), EqualCpus(2, kRoom), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(
      compiled->report.idle_pins,
      std::vector<std::string>({"folded=cpu:1", "same=cpu:0", "unread=cpu:1"}));
  EXPECT_EQ(Computed(compiled->plan), "mul %y cpu:1");
}

// A pin applies to the module: one function with a matching node is enough.
TEST(Pins, APinMayMatchInOneFunctionOnly) {
  Module module = ModuleOf(R"(
graph @f(%x: f32[4]) -> f32[4] {
  %a = exp %x : f32[4]
  return %a
}
graph @g(%x: f32[4]) -> f32[4] {
  %b = neg %x : f32[4]
  return %b
}
)");
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = {{"b", {"cpu:1"}}};
  const auto compiled = Compile(module.Clone(), EqualCpus(2, kRoom), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Graph& g = *compiled->plan.module.FindFunction("g");
  EXPECT_EQ(g.node(g.value(g.outputs()[0]).defining_node).placement.devices[0],
            "cpu:1");
  EXPECT_TRUE(compiled->report.idle_pins.empty());
  options.pins = {{"bb", {"cpu:1"}}};
  EXPECT_EQ(std::string(Compile(module.Clone(), EqualCpus(2, kRoom), options)
                            .status()
                            .message()),
            "pin bb=cpu:1: found no node with this scope or result name; "
            "expected one such as a, b; * matches any run of characters");
}

}  // namespace
}  // namespace partita
