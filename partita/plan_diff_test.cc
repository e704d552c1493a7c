// Pairs of plans with known differences.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/builder/examples/models.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kRoom = int64_t{1} << 26;

Machine TwoCpus() { return EqualCpus(2, kRoom); }

constexpr char kModel[] = R"(
graph @f(%x: f32[64, 64]) -> f32[64, 64] {
  %h = matmul %x, %x : f32[64, 64]
  %p = softmax %h {axis = 1} : f32[64, 64]
  %y = matmul %p, %x : f32[64, 64]
  return %y
}
)";

Module Parsed(const std::string& text) {
  auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Plan Planned(Module module, const CompileOptions& options) {
  auto compiled = Predict(std::move(module), TwoCpus(), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return std::move(compiled->plan);
}

Plan PlannedOn(const std::string& device_of_y) {
  CompileOptions options;
  options.pins = {{"h", {"cpu:0"}}, {"p", {"cpu:0"}}, {"y", {device_of_y}}};
  return Planned(Parsed(kModel), options);
}

PlanDiff Diff(const Plan& a, const Plan& b) {
  auto diff = DiffPlans(a, {TwoCpus(), true}, b, {TwoCpus(), true});
  EXPECT_TRUE(diff.ok()) << diff.status();
  return *std::move(diff);
}

KernelBinding& KernelOf(Plan& plan, const std::string& name) {
  Graph& graph = *plan.module.functions()[0];
  for (const OpView& op : graph.ops()) {
    if (op.result(0).name() == name) return *graph.node(op.id()).kernel;
  }
  ADD_FAILURE() << "found no node " << name;
  return *graph.node(graph.order()[0]).kernel;
}

TEST(PlanDiffTest, AMovedNodeIsListedWithItsFigures) {
  const PlanDiff diff = Diff(PlannedOn("cpu:0"), PlannedOn("cpu:1"));
  EXPECT_FALSE(diff.empty());
  ASSERT_EQ(diff.entries.size(), 1u);
  const EntryDiff& entry = diff.entries[0];
  EXPECT_EQ(entry.paired, 3);
  ASSERT_EQ(entry.moved.size(), 1u);
  EXPECT_EQ(entry.moved[0].op, "matmul");
  EXPECT_EQ(entry.moved[0].a.name, "%y");
  EXPECT_EQ(entry.moved[0].a.placement, "cpu:0");
  EXPECT_EQ(entry.moved[0].b.placement, "cpu:1");
  EXPECT_EQ(entry.moved[0].b.reason, "pinned");
  EXPECT_EQ(entry.moved[0].a.seconds, entry.moved[0].b.seconds);
  EXPECT_THAT(entry.computed, IsEmpty());
  EXPECT_EQ(entry.a.transfers.copies, 0);
  EXPECT_EQ(entry.b.transfers.copies, 1);
  EXPECT_EQ(entry.b.transfers.copied_bytes, 64 * 64 * 4);
  EXPECT_LT(entry.a.path.transfers, entry.b.path.transfers);
  ASSERT_EQ(diff.devices.size(), 2u);
  EXPECT_EQ(diff.devices[0].device, "cpu:0");
  EXPECT_TRUE(diff.devices[0].b.has_value());
  EXPECT_EQ(diff.devices[1].device, "cpu:1");
  EXPECT_FALSE(diff.devices[1].a.has_value());
  EXPECT_TRUE(diff.devices[1].b.has_value());
}

TEST(PlanDiffTest, TheOtherWayRoundItIsTheOpposite) {
  const Plan a = PlannedOn("cpu:0"), b = PlannedOn("cpu:1");
  const PlanDiff there = Diff(a, b), back = Diff(b, a);
  EXPECT_EQ(there.entries[0].a, back.entries[0].b);
  EXPECT_EQ(there.entries[0].b, back.entries[0].a);
  EXPECT_EQ(back.entries[0].moved[0].b.placement, "cpu:0");
}

TEST(PlanDiffTest, EachPartOfAnArithmeticIsNamed) {
  struct Case {
    const char* changed;
    std::vector<std::string> differences;
  };
  const Case cases[] = {
      {"lib 1.0 jit:avx2 threads 2", {}},
      {"lib 1.1 jit:avx2 threads 2", {"version"}},
      {"lib 1.0 jit:avx512 threads 2", {"isa"}},
      {"lib 1.0 jit:avx2 threads 4", {"threads"}},
      {"lib 1.0 jit:avx2 threads 2 tiles not ieee", {"ieee"}},
      {"lib 1.1 jit:avx2 threads 4", {"version", "threads"}},
  };
  for (const Case& changed : cases) {
    Plan a = PlannedOn("cpu:0"), b = PlannedOn("cpu:0");
    KernelOf(a, "y").arithmetics =
        ParseArithmetics("lib 1.0 jit:avx2 threads 2");
    KernelOf(b, "y").arithmetics = ParseArithmetics(changed.changed);
    const PlanDiff diff = Diff(a, b);
    EXPECT_EQ(diff.empty(), changed.differences.empty()) << changed.changed;
    const std::vector<NodeChange>& computed = diff.entries[0].computed;
    EXPECT_EQ(computed.size(), changed.differences.empty() ? 0u : 1u);
    if (computed.size() != 1) continue;
    EXPECT_EQ(computed[0].arithmetic, changed.differences) << changed.changed;
    EXPECT_EQ(computed[0].a.name, "%y");
    EXPECT_THAT(diff.entries[0].moved, IsEmpty());
  }
}

TEST(PlanDiffTest, AnotherKernelIsNamedBesideItsArithmetic) {
  Plan a = PlannedOn("cpu:0"), b = PlannedOn("cpu:0");
  KernelOf(a, "y").arithmetics = ParseArithmetics("lib 1.0 a");
  KernelOf(b, "y").arithmetics = ParseArithmetics("own 1 a");
  KernelOf(b, "y").kernel = "own.matmul";
  const PlanDiff diff = Diff(a, b);
  ASSERT_EQ(diff.entries[0].computed.size(), 1u);
  EXPECT_THAT(diff.entries[0].computed[0].arithmetic,
              ElementsAre("kernel", "version"));
  EXPECT_EQ(diff.entries[0].computed[0].b.kernel, "own.matmul");
}

TEST(PlanDiffTest, ANodeOfOnePlanIsListedAsSuch) {
  CompileOptions options;
  options.strategy = "single";
  const Plan a = Planned(Parsed(kModel), options);
  const Plan b = Planned(Parsed(R"(
graph @f(%x: f32[64, 64]) -> f32[64, 64] {
  %h = matmul %x, %x : f32[64, 64]
  %y = matmul %h, %x : f32[64, 64]
  return %y
}
)"),
                         options);
  const PlanDiff diff = Diff(a, b);
  EXPECT_THAT(diff.entries[0].only_a, ElementsAre("softmax %p"));
  EXPECT_THAT(diff.entries[0].only_b, IsEmpty());
  EXPECT_THAT(diff.entries[0].moved, IsEmpty());
  EXPECT_EQ(diff.entries[0].paired, 2);
}

TEST(PlanDiffTest, EntriesArePairedByName) {
  CompileOptions options;
  options.strategy = "single";
  const Plan a = Planned(Parsed("graph @f(%x: f32[4]) -> f32[4] {\n"
                                "  %y = relu %x : f32[4]\n  return %y\n}\n"
                                "graph @g(%x: f32[4]) -> f32[4] {\n"
                                "  %y = exp %x : f32[4]\n  return %y\n}\n"),
                         options);
  const Plan b = Planned(Parsed("graph @g(%x: f32[4]) -> f32[4] {\n"
                                "  %y = exp %x : f32[4]\n  return %y\n}\n"),
                         options);
  const PlanDiff diff = Diff(a, b);
  ASSERT_EQ(diff.entries.size(), 1u);
  EXPECT_EQ(diff.entries[0].a.name, "g");
  EXPECT_THAT(diff.entries_only_a, ElementsAre("f"));
  EXPECT_THAT(diff.entries_only_b, IsEmpty());
  EXPECT_FALSE(diff.empty());
}

// A property of all plans, over strategies that shard, copy and move.
TEST(PlanDiffTest, APlanDoesNotDifferFromItself) {
  for (const char* strategy : {"single", "data", "pipeline", "list"}) {
    CompileOptions options;
    options.strategy = strategy;
    const Plan convolutions = Planned(*SmallConvNet(), options);
    EXPECT_TRUE(Diff(convolutions, convolutions).empty()) << strategy;
    EXPECT_TRUE(Diff(convolutions, Planned(*SmallConvNet(), options)).empty())
        << strategy;
    const Plan products = Planned(Parsed(kModel), options);
    EXPECT_TRUE(Diff(products, products).empty()) << strategy;
    EXPECT_FALSE(Diff(products, convolutions).empty()) << strategy;
  }
}

}  // namespace
}  // namespace partita
