// Plans for GPUs bind generated kernels, and store the PTX of each once.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/builder/examples/models.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/shard.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "kernels/gpu/ptx_catalog.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/checker/prove_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

// Two layers, forward, backward and update.
constexpr char kPerceptron[] = R"(
variable @w1: f32[2, 4] trainable = f32[2, 4] [1, -2, 3, 4, 5, -6, 7, -8]
variable @b1: f32[4] trainable = f32[4] [0, 0, 0, 0]
variable @w2: f32[4, 2] trainable = f32[4, 2] [1, 2, -3, 1, 2, -3, 1, 2]

graph @train(%x: f32[8, 2], %t: f32[8, 2]) -> f32[] {
  %w1 = variable {dtype = f32, name = "w1", shape = [2, 4]} : f32[2, 4]
  %b1 = variable {dtype = f32, name = "b1", shape = [4]} : f32[4]
  %a = matmul %x, %w1 : f32[8, 4]
  %s = add %a, %b1 : f32[8, 4]
  %h = relu %s : f32[8, 4]
  %w2 = variable {dtype = f32, name = "w2", shape = [4, 2]} : f32[4, 2]
  %y = matmul %h, %w2 : f32[8, 2]
  %d = sub %y, %t : f32[8, 2]
  %squares = mul %d, %d : f32[8, 2]
  %loss = reduce_sum %squares {axes = [0, 1], keep_dims = false} : f32[]
  %g2 = matmul %h, %d {transpose_a = true} : f32[4, 2]
  %e = matmul %d, %w2 {transpose_b = true} : f32[8, 4]
  %sign = sign %h : f32[8, 4]
  %f = mul %e, %sign : f32[8, 4]
  %gb = reduce_sum %f {axes = [0], keep_dims = false} : f32[4]
  %g1 = matmul %x, %f {transpose_a = true} : f32[2, 4]
  %rate = constant f32[] 0.01
  %r1 = mul %g1, %rate : f32[2, 4]
  %n1 = sub %w1, %r1 : f32[2, 4]
  update @w1 = %n1
  %rb = mul %gb, %rate : f32[4]
  %nb = sub %b1, %rb : f32[4]
  update @b1 = %nb
  %r2 = mul %g2, %rate : f32[4, 2]
  %n2 = sub %w2, %r2 : f32[4, 2]
  update @w2 = %n2
  return %loss
})";

Module Perceptron() {
  absl::StatusOr<Module> module =
      ParseModule(kPerceptron, "perceptron", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Module Gpt() {
  return *GptTraining({.batch = 4,
                       .layers = 2,
                       .width = 16,
                       .heads = 2,
                       .context = 8,
                       .vocabulary = 32});
}

Machine WithGpus(int gpus, const std::string& isa) {
  Machine machine = CpuAndGpus(gpus, int64_t{1} << 30);
  for (int i = 1; i <= gpus; ++i) machine.devices[i].traits.isa = isa;
  return machine;
}

CompileOptions OnOneGpu() {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  return options;
}

CompileOptions On(const std::string& strategy) {
  CompileOptions options;
  options.strategy = strategy;
  return options;
}

bool IsGpu(const std::string& device) {
  return absl::StartsWith(device, "gpu:");
}

// Nodes by the library of their kernel, on GPUs.
std::map<std::string, int> LibrariesOnGpus(const Plan& plan) {
  std::map<std::string, int> libraries;
  for (const Entry& entry : plan.entries) {
    for (const OpView& op : entry.graph->ops()) {
      const Node& node = op.node();
      if (!node.kernel.has_value() || !IsGpu(node.placement.devices[0])) {
        continue;
      }
      ++libraries[node.kernel->kernel.library];
    }
  }
  return libraries;
}

// The names of the kernels that the GPUs launch.
std::set<std::string> KernelsOnGpus(const Plan& plan) {
  std::set<std::string> kernels;
  for (const Entry& entry : plan.entries) {
    for (const OpView& op : entry.graph->ops()) {
      const auto& devices = op.node().placement.devices;
      if (!HasPtxKernel(op)) continue;
      for (size_t rank = 0; rank < devices.size(); ++rank) {
        std::unique_ptr<Graph> shard;
        OpView own = op;
        if (HasOwnShards(op)) {
          shard = *ShardOfNode(op, static_cast<int>(rank), kTypicalMicroBatch);
          own = shard->ops().front();
        }
        const auto launch = LaunchOfNode(own, /*multiprocessors=*/132);
        EXPECT_TRUE(launch.ok()) << launch.status();
        if (launch.ok()) kernels.insert(launch->kernel);
      }
    }
  }
  return kernels;
}

std::string TextOf(const CodeObject& code) {
  return {reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()};
}

void ExpectBoundToPtx(const absl::StatusOr<Compiled>& compiled) {
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Plan& plan = compiled->plan;
  EXPECT_TRUE(ProvePlan(plan).ok());
  EXPECT_EQ(compiled->report.missing_gpu_kernels.cost_only_nodes, 0);
  const std::map<std::string, int> libraries = LibrariesOnGpus(plan);
  EXPECT_EQ(libraries.size(), 1u);
  EXPECT_TRUE(libraries.contains("ptx"));
  for (const CodeObject& code : plan.code_objects) {
    if (code.target != "sm_90") continue;
    const std::string text = TextOf(code);
    for (const std::string& kernel : KernelsOnGpus(plan)) {
      const std::string entry = absl::StrCat(".entry ", kernel, "(");
      const std::vector<std::string> parts = absl::StrSplit(text, entry);
      EXPECT_EQ(parts.size(), 2u) << kernel;
    }
    return;
  }
  ADD_FAILURE() << "found no code for sm_90";
}

TEST(GpuPlans, ATrainingStepOnOneGpuBindsGeneratedKernelsOnly) {
  ExpectBoundToPtx(Compile(Perceptron(), WithGpus(1, "sm_90"), OnOneGpu()));
  ExpectBoundToPtx(Compile(Gpt(), WithGpus(1, "sm_90"), OnOneGpu()));
}

TEST(GpuPlans, SoDoesOneOnTwoGpus) {
  const Machine machine = WithGpus(2, "sm_90a");
  ExpectBoundToPtx(Compile(Perceptron(), machine, On("data")));
  ExpectBoundToPtx(Compile(Gpt(), machine, On("data")));
  CompileOptions pinned = On("pinned");
  pinned.pins = {{"a", {"gpu:0"}}, {"y", {"gpu:1"}}};
  ExpectBoundToPtx(Compile(Perceptron(), machine, pinned));
}

// One plan for GPUs of two kinds has text for each.
TEST(GpuPlans, APlanForTwoKindsOfGpusHasCodeForBoth) {
  Machine machine = WithGpus(2, "sm_86");
  machine.devices[2].traits.isa = "sm_90";
  CompileOptions pinned = On("pinned");
  pinned.pins = {{"a", {"gpu:0"}}, {"y", {"gpu:1"}}};
  const auto compiled = Compile(Perceptron(), machine, pinned);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Plan& plan = compiled->plan;
  std::map<std::string, std::string> texts;
  for (const CodeObject& code : plan.code_objects) {
    texts[code.target] = TextOf(code);
  }
  const std::string printed = PrintPlan(plan);
  for (const std::string target : {"sm_80", "sm_90"}) {
    EXPECT_TRUE(absl::StrContains(texts[target],
                                  absl::StrCat(".target ", target, "\n")));
    EXPECT_TRUE(absl::StrContains(printed,
                                  absl::StrCat("  code \"", target, "\" bytes ",
                                               texts[target].size(), " #")))
        << printed;
  }
}

TEST(GpuPlans, AGpuWithoutAnInstructionSetGetsCostsOnly) {
  const auto compiled = Compile(Perceptron(), WithGpus(1, ""), OnOneGpu());
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::map<std::string, int> libraries = LibrariesOnGpus(compiled->plan);
  ASSERT_TRUE(libraries.contains("cost_only"));
  EXPECT_EQ(compiled->report.missing_gpu_kernels.cost_only_nodes,
            libraries.at("cost_only"));
  for (const CodeObject& code : compiled->plan.code_objects) {
    EXPECT_FALSE(absl::StartsWith(code.target, "sm_")) << code.target;
  }
}

// No GPU has a kernel for the determinant of five rows.
constexpr char kDeterminant[] = R"(
graph @main(%x: f32[8, 5, 5]) -> f32[8] {
  %a = tanh %x : f32[8, 5, 5]
  %d = det %a : f32[8]
  %y = relu %d : f32[8]
  return %y
})";

TEST(GpuPlans, WhatHasNoKernelRunsOnTheHostAndAPlanOnTheGpuAloneIsRefused) {
  const auto module = [] {
    return *ParseModule(kDeterminant, "determinant", OpSet::BuiltIn());
  };
  const Machine machine = WithGpus(1, "sm_90");
  const auto listed = Compile(module(), machine, On("list"));
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_EQ(listed->report.missing_gpu_kernels.host_nodes,
            std::vector<std::string>{"det %d"});
  for (const OpView& op : listed->plan.entries[0].graph->ops()) {
    if (op.op_name() != "det") continue;
    EXPECT_EQ(op.node().placement.devices[0], "cpu:0");
  }
  const auto alone = Compile(module(), machine, OnOneGpu());
  EXPECT_TRUE(absl::IsUnimplemented(alone.status())) << alone.status();
  EXPECT_TRUE(absl::StrContains(
      alone.status().message(),
      "det %d: found no kernel on gpu:0 for (f32[8, 5, 5]); expected one "
      "device that runs every node; try strategy list"))
      << alone.status();
}

}  // namespace
}  // namespace partita
