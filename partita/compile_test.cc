// Compile for modules that do not fit, and its stages.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compile.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "placement/lower/refusal.h"
#include "placement/machine/byte_size.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

Module ConvNet() { return *SmallConvNet(); }

// The bytes that the refusal's last remedy asks for; 0 if it asks for none.
int64_t RemedyBytes(const std::string& refusal) {
  constexpr char kBefore[] = "a machine with at least ";
  const size_t at = refusal.rfind(kBefore);
  if (at == std::string::npos) return 0;
  const size_t begin = at + sizeof(kBefore) - 1;
  const size_t end = refusal.find(" free on ", begin);
  return ParseByteSize(refusal.substr(begin, end - begin)).value_or(0);
}

TEST(CompileTest, AMemoryRemedyWorksWhenFollowed) {
  for (const char* strategy : {"single", "list"}) {
    CompileOptions options;
    options.strategy = strategy;
    int64_t memory = 4096;
    int refusals = 0;
    for (;; ++refusals) {
      const auto compiled = Compile(ConvNet(), EqualCpus(1, memory), options);
      if (compiled.ok()) break;
      const std::string refusal(compiled.status().message());
      const int64_t remedy = RemedyBytes(refusal);
      ASSERT_GT(remedy, memory) << refusal;
      memory = remedy;
    }
    EXPECT_EQ(refusals, 1) << strategy;
  }
}

// One message has the refusals of all strategies, and the remedy of the one
// that needs the least.
TEST(CompileTest, AMemoryRemedyNamesItsStrategy) {
  const auto compiled = Compile(ConvNet(), EqualCpus(2, 4096), {});
  const std::string refusal(compiled.status().message());
  const std::optional<MemoryShortage> shortage = ShortageOf(compiled.status());
  ASSERT_TRUE(shortage.has_value()) << refusal;
  EXPECT_TRUE(absl::EndsWith(refusal,
                             absl::StrCat("\n  try ", MemoryRemedy(*shortage))))
      << refusal;
  const int64_t memory = RemedyBytes(refusal);
  const auto fits = [&](const std::string& strategy) {
    CompileOptions options;
    options.strategy = strategy;
    return Compile(ConvNet(), EqualCpus(2, memory), options).ok();
  };
  EXPECT_TRUE(fits(shortage->strategy)) << refusal;
  EXPECT_FALSE(fits("single"));
}

// Machines from too small to large enough. On some of those between, the first
// placement is short of memory, so the planner runs again.
TEST(CompileTest, StagesShowTheChainsLastRound) {
  int replanned = 0;
  int refused = 0;
  CompileOptions options;
  options.strategy = "list";
  options.depth = 2;
  int rounds = 0;
  options.progress = [&](absl::string_view stage) {
    rounds += stage == "place";
  };
  const auto compare = [&](const Machine& machine) {
    const auto kernels = CompileTo("kernels", ConvNet(), machine, options);
    rounds = 0;
    const auto compiled = Compile(ConvNet(), machine, options);
    ASSERT_EQ(kernels.status(), compiled.status());
    refused += !compiled.ok();
    if (!compiled.ok()) return;
    replanned += rounds > 1;
    EXPECT_EQ(*kernels, PrintModule(compiled->plan.module));
    const auto placed = CompileTo("placed", ConvNet(), machine, options);
    ASSERT_TRUE(placed.ok()) << placed.status();
    EXPECT_TRUE(absl::StrContains(*placed, " on cpu:"));
    EXPECT_FALSE(absl::StrContains(*placed, " by onednn."));
  };
  for (int64_t memory = 16 << 10; memory < (96 << 10); memory += memory / 16) {
    SCOPED_TRACE(memory);
    compare(CpuAndGpus(2, memory));
  }
  compare(EqualCpus(2, 48 << 10));
  EXPECT_GT(replanned, 0);
  EXPECT_GT(refused, 0);
}

// Two outputs of 256 KiB, of two steps: one device has memory for one of them.
// The strategy counts both steps, so that its first placement fits.
TEST(CompileTest, AStrategyCountsAllStepsInFlight) {
  absl::StatusOr<Module> module = ParseModule(R"(
graph @two(%a: f32[256, 4], %x: f32[4, 256], %z: f32[1, 256]) -> (f32[256, 256], f32[256, 256]) {
  %p = matmul %a, %x : f32[256, 256]
  %m = reduce_max %p {axes = [1]} : f32[256, 1]
  %q = matmul %m, %z : f32[256, 256]
  return %p, %q
}
)",
                                              "t", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  int rounds = 0;
  CompileOptions options;
  options.strategy = "list";
  options.depth = 2;
  options.progress = [&](absl::string_view stage) {
    rounds += stage == "place";
  };
  const auto compiled =
      Compile(*std::move(module), EqualCpus(2, 700 << 10), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(rounds, 1);
}

// Four values of 256 KiB, each read at once. All four are live together in the
// graph's order; lowering finds a better one.
TEST(CompileTest, TheOrderThatLoweringFindsCounts) {
  absl::StatusOr<Module> module = ParseModule(R"(
graph @wide(%a: f32[256, 4], %b: f32[256, 4], %c: f32[256, 4], %d: f32[256, 4], %x: f32[4, 256]) -> (f32[256], f32[256], f32[256], f32[256]) {
  %p = matmul %a, %x : f32[256, 256]
  %q = matmul %b, %x : f32[256, 256]
  %r = matmul %c, %x : f32[256, 256]
  %s = matmul %d, %x : f32[256, 256]
  %h = reduce_max %p {axes = [1], keep_dims = false} : f32[256]
  %i = reduce_max %q {axes = [1], keep_dims = false} : f32[256]
  %j = reduce_max %r {axes = [1], keep_dims = false} : f32[256]
  %k = reduce_max %s {axes = [1], keep_dims = false} : f32[256]
  return %h, %i, %j, %k
}
)",
                                              "t", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  for (const char* strategy : {"single", "list", "pipeline", "data", "auto"}) {
    CompileOptions options;
    options.strategy = strategy;
    const auto fits =
        Compile(module->Clone(), EqualCpus(1, 640 << 10), options);
    EXPECT_TRUE(fits.ok()) << strategy << ": " << fits.status();
    const auto refused =
        Compile(module->Clone(), EqualCpus(1, 200 << 10), options);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted)
        << strategy << ": " << refused.status();
  }
}

// Each device has half of each weight of 256 KiB.
TEST(CompileTest, AWeightThatAPinShardsCountsAsItsShard) {
  const auto with_pin = [](const char* strategy, int64_t memory) {
    GraphBuilder b("layers");
    const auto weight = [&](uint64_t seed) {
      return b.Constant(
          RandomTensor({DType::kF32, {256, 256}, {}}, seed, -1, 1));
    };
    const Tensor x = b.Input("x", DType::kF32, {4, 256});
    b.Output("y", MatMul(MatMul(x, weight(1)).Named("h"), weight(2)));
    CompileOptions options;
    options.strategy = strategy;
    options.pins = {{"*", {"cpu:0", "cpu:1"}, 1}};
    return Compile(*b.Build(), EqualCpus(2, memory), options);
  };
  for (const char* strategy : {"pinned", "list", "pipeline", "auto"}) {
    const auto fits = with_pin(strategy, 400 << 10);
    ASSERT_TRUE(fits.ok()) << strategy << ": " << fits.status();
    for (const DeviceMemoryUse& device : fits->report.devices) {
      EXPECT_LT(device.arena, 300 << 10) << device.device;
    }
    EXPECT_FALSE(with_pin(strategy, 200 << 10).ok()) << strategy;
  }
}

// A layer on each of two devices, each with memory for one weight of 1 MiB and
// little more.
TEST(CompileTest, AWeightCountsOnlyWhereItsLayerIs) {
  GraphBuilder b("layers");
  const auto weight = [&](uint64_t seed) {
    return b.Constant(RandomTensor({DType::kF32, {512, 512}, {}}, seed, -1, 1));
  };
  const Tensor x = b.Input("x", DType::kF32, {4, 512});
  const Tensor h = MatMul(x, weight(1)).Named("h");
  b.Output("y", MatMul(h, weight(2)).Named("y"));
  const Module module = *b.Build();
  for (const char* strategy : {"pinned", "list", "pipeline", "auto"}) {
    CompileOptions options;
    options.strategy = strategy;
    options.pins = {{"h", {"cpu:0"}}, {"y", {"cpu:1"}}};
    const auto fits =
        Compile(module.Clone(), EqualCpus(2, 1536 << 10), options);
    EXPECT_TRUE(fits.ok()) << strategy << ": " << fits.status();
  }
}

// A device with the bytes of the plan's arena suffices. One byte less is
// refused, with the same figure.
TEST(CompileTest, TheCountIsThatOfThePlan) {
  for (const char* strategy : {"single", "list", "pipeline"}) {
    CompileOptions options;
    options.strategy = strategy;
    const auto roomy = Compile(ConvNet(), EqualCpus(1, 1 << 30), options);
    ASSERT_TRUE(roomy.ok()) << roomy.status();
    const int64_t arena = roomy->report.devices[0].arena;
    const auto tight = Compile(ConvNet(), EqualCpus(1, arena), options);
    ASSERT_TRUE(tight.ok()) << strategy << ": " << tight.status();
    EXPECT_EQ(PrintModule(tight->plan.module), PrintModule(roomy->plan.module));
    const auto refused = Compile(ConvNet(), EqualCpus(1, arena - 1), options);
    const auto shortage = ShortageOf(refused.status());
    ASSERT_TRUE(shortage.has_value()) << refused.status();
    EXPECT_EQ(shortage->needed, arena) << strategy;
  }
}

TEST(CompileTest, APredictionIsThatOfThePlanWithoutItsCode) {
  const Machine machine = EqualCpus(2, 1 << 26);
  const auto compiled = Compile(ConvNet(), machine);
  const auto predicted = Predict(ConvNet(), machine);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_EQ(predicted->report.strategy, compiled->report.strategy);
  EXPECT_EQ(predicted->report.entries[0].step_seconds,
            compiled->report.entries[0].step_seconds);
  EXPECT_TRUE(predicted->plan.code_objects.empty());
  EXPECT_FALSE(predicted->plan.certificate.has_value());
  const auto is_late = [](const StageTime& stage) {
    return stage.stage == "native code" || stage.stage == "prove";
  };
  EXPECT_TRUE(absl::c_any_of(compiled->report.stages, is_late));
  EXPECT_FALSE(absl::c_any_of(predicted->report.stages, is_late));
}

// Two stages overlap two steps but make each step wait for a transfer.
TEST(CompileTest, AutoKeepsTheBestByItsObjective) {
  const auto kept = [](std::optional<ObjectiveChoice> objective) {
    CompileOptions options;
    options.planner.objective = objective;
    options.depth = 2;
    const auto compiled =
        Compile(*ResNet50(), EqualCpus(2, int64_t{1} << 30), options);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (!compiled.ok()) return Candidate();
    const CompileReport& report = compiled->report;
    return *absl::c_find_if(report.candidates, [&](const Candidate& tried) {
      return tried.strategy == report.strategy;
    });
  };
  const Candidate latency = kept(ObjectiveChoice{Goal::kLatency});
  const Candidate throughput = kept(ObjectiveChoice{Goal::kThroughput});
  EXPECT_LT(latency.latency_seconds, throughput.latency_seconds);
  EXPECT_GT(latency.step_seconds, throughput.step_seconds);
  EXPECT_EQ(kept(std::nullopt).strategy, throughput.strategy);
}

// With one device all strategies have the same placement: its plan is made
// once.
TEST(CompileTest, WhatStrategiesPlaceAlikeIsLoweredOnce) {
  std::map<std::string, int> stages;
  CompileOptions options;
  options.progress = [&](absl::string_view stage) {
    ++stages[std::string(stage)];
  };
  const auto compiled =
      Compile(ConvNet(), EqualCpus(1, int64_t{1} << 30), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::vector<Candidate>& tried = compiled->report.candidates;
  ASSERT_GT(tried.size(), 2u);
  for (const Candidate& candidate : tried) {
    EXPECT_EQ(candidate.refusal, "");
    EXPECT_EQ(candidate.step_seconds, tried[0].step_seconds);
    EXPECT_EQ(candidate.latency_seconds, tried[0].latency_seconds);
  }
  EXPECT_GT(tried[0].step_seconds, 0);
  EXPECT_EQ(compiled->report.strategy, tried[0].strategy);
  EXPECT_EQ(stages["place"], static_cast<int>(tried.size()));
  EXPECT_EQ(stages["kernels"], 1);
  EXPECT_EQ(stages["lower"], 1);
  EXPECT_EQ(stages["lay out"], 1);
  EXPECT_EQ(stages["predict"], 1);
}

// The first function is the same with every strategy; the second has two halves
// for two devices.
TEST(CompileTest, AutoJudgesByAllEntries) {
  absl::StatusOr<Module> module = ParseModule(R"(
graph @small(%x: f32[4]) -> f32[4] {
  %y = relu %x : f32[4]
  return %y
}
graph @large(%x: f32[256, 256], %y: f32[256, 256]) -> (f32[256, 256], f32[256, 256]) {
  %a = matmul %x, %x : f32[256, 256]
  %b = matmul %y, %y : f32[256, 256]
  return %a, %b
}
)",
                                              "t", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto compiled = Compile(*std::move(module), EqualCpus(2, 1 << 26));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const CompileReport& report = compiled->report;
  ASSERT_EQ(report.entries.size(), 2u);
  const double both =
      report.entries[0].step_seconds + report.entries[1].step_seconds;
  EXPECT_NE(report.strategy, "single");
  for (const Candidate& tried : report.candidates) {
    if (tried.strategy == "single") {
      EXPECT_GT(tried.step_seconds, both);
    }
    if (tried.strategy == report.strategy) {
      EXPECT_DOUBLE_EQ(tried.step_seconds, both);
    }
  }
}

// The first function is short of memory, the second has no link: whatever
// memory the reader adds, the link is still missing.
TEST(CompileTest, AShortageHidesNoOtherFault) {
  absl::StatusOr<Module> module = ParseModule(R"(
graph @large(%x: f32[256, 256]) -> f32[256, 256] {
  %y = matmul %x, %x : f32[256, 256] on cpu:0
  return %y
}
graph @apart(%x: f32[4]) -> f32[4] {
  %y = relu %x : f32[4] on cpu:0
  %z = neg %y : f32[4] on cpu:1
  return %z
}
)",
                                              "t", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  Machine machine = EqualCpus(2, 64 << 10);
  machine.links.clear();
  CompileOptions options;
  options.strategy = "pinned";
  const absl::Status fault =
      Compile(*std::move(module), machine, options).status();
  EXPECT_TRUE(absl::StartsWith(
      fault.message(),
      "neg %z: found operand %y on cpu:0 and no link from there to cpu:1"))
      << fault;
}

TEST(CompileTest, APinDividesTheRowsOfAMicroBatch) {
  const auto with_pin = [](int micro_batches) {
    GraphBuilder b("layer");
    const Tensor x = b.Input("x", DType::kF32, {8, 16});
    const Tensor w =
        b.Constant(RandomTensor({DType::kF32, {16, 16}, {}}, 1, -1, 1));
    b.Output("y", MatMul(x, w).Named("h"));
    CompileOptions options;
    options.strategy = "pinned";
    options.pins = {{"h", {"cpu:0", "cpu:1", "cpu:2", "cpu:3"}, 0}};
    options.batch_inputs = {"x"};
    options.micro_batches = micro_batches;
    return Compile(*b.Build(), EqualCpus(4, 1 << 26), options).status();
  };
  EXPECT_EQ(with_pin(2), absl::OkStatus());
  const absl::Status fault = with_pin(4);
  EXPECT_TRUE(absl::StrContains(fault.message(),
                                "matmul %h: found a split along dimension 0 "
                                "of its result, which has at most 2 shards, "
                                "over 4 devices"))
      << fault;
}

// Nodes whose kernel's arithmetic says that it is not IEEE 754.
int Violations(const Module& module) {
  int violations = 0;
  for (const auto& function : module.functions()) {
    for (const OpView& op : function->ops()) {
      const auto& kernel = op.node().kernel;
      if (!kernel.has_value()) continue;
      for (const Arithmetic& arithmetic : kernel->arithmetics) {
        violations += arithmetic.violates.any();
      }
    }
  }
  return violations;
}

TEST(CompileTest, ByRequestNoKernelViolatesIeee) {
  CompileOptions options;
  const Machine machine = EqualCpus(1, 1 << 26);
  const auto fast = Compile(ConvNet(), machine, options);
  ASSERT_TRUE(fast.ok()) << fast.status();
  EXPECT_GT(Violations(fast->plan.module), 0);
  options.ieee = true;
  const auto strict = Compile(ConvNet(), machine, options);
  ASSERT_TRUE(strict.ok()) << strict.status();
  EXPECT_EQ(Violations(strict->plan.module), 0);
  EXPECT_TRUE(strict->report.fallbacks.nodes.empty());
}

// oneDNN adds no mask to products of batches of heads.
TEST(CompileTest, AnEpilogueThatNoLibraryTakesIsOneLoop) {
  GraphBuilder b("scores");
  const Tensor q = b.Input("q", DType::kF32, {2, 3, 8, 4});
  const Tensor k = b.Input("k", DType::kF32, {2, 3, 8, 4});
  const Tensor mask =
      b.Constant(RandomTensor({DType::kF32, {8, 8}, {}}, 1, -1, 1));
  b.Output("y", MatMul(q, k, {.transpose_b = true}) * 0.5 + mask);
  const auto compiled = Compile(*b.Build(), EqualCpus(1, 1 << 26));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  std::vector<std::string> kernels;
  for (const OpView& node : compiled->plan.module.main().ops()) {
    if (node.node().kernel.has_value()) {
      kernels.push_back(node.node().kernel->kernel.ToString());
    }
  }
  EXPECT_EQ(kernels,
            (std::vector<std::string>{"onednn.matmul", "codegen.elementwise"}));
}

TEST(CompileTest, NotesSayWhatBecameOfTheStrategies) {
  const auto compiled = Compile(ConvNet(), EqualCpus(2, 1 << 26));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::string& summary = compiled->plan.notes->summary;
  EXPECT_TRUE(absl::StartsWith(summary,
                               "placed by " + compiled->report.strategy + "\n"))
      << summary;
  EXPECT_TRUE(absl::StrContains(summary, " ms a step")) << summary;
}

}  // namespace
}  // namespace partita
