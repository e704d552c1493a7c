// Lowers ten thousand nodes: the plan is proved and within the memory bounds.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"
#include "placement/lower/lower_fixture.h"
#include "placement/lower/memory_bound.h"
#include "runtime/plan/checker/check_plan.h"

namespace partita {
namespace {

// Layers of unequal widths; each reads two of the latest few values. Weights
// are constants. Consecutive layers share a device.
Module LayeredGraph(int nodes, int devices) {
  Module module;
  Graph& graph = module.AddFunction("large");
  std::vector<ValueId> recent = {
      graph.AddInput("x", {DType::kF32, {4, 16}, {}})};
  uint64_t state = 7;
  auto next = [&](uint32_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33) % bound;
  };
  auto add = [&](const OpDef& op, ValueIds operands, Attributes attributes,
                 int device) {
    NodeSpec spec{.op = &op,
                  .operands = std::move(operands),
                  .attributes = std::move(attributes)};
    spec.placement.devices = {absl::StrCat("gpu:", device)};
    return *graph.AddValue(std::move(spec));
  };
  for (int made = 0; made < nodes;) {
    const int device = made * devices / nodes;
    const ValueId x =
        recent[recent.size() - 1 - next(std::min<uint32_t>(6, recent.size()))];
    const int64_t width = graph.type(x).dims[1];
    if (next(3) == 0) {
      const int64_t out = 8 + 8 * next(12);
      const LiteralId literal =
          module.literals().Add(HostTensor({DType::kF32, {width, out}, {}}));
      const ValueId w = graph.AddConstant(literal);
      recent.push_back(add(kMatmul, {x, w}, {}, device));
      made += 2;
    } else if (next(2) == 0) {
      recent.push_back(add(kRelu, {x}, {}, device));
      made += 1;
    } else {
      const ValueId y = add(kSigmoid, {x}, {}, device);
      recent.push_back(add(kMul, {x, y}, {}, device));
      made += 2;
    }
  }
  graph.SetOutputs({recent.back()}, {"y"});
  return module;
}

// Branches that are all live until one node concatenates them: all pairs of n
// values are live at the same time.
Module WideGraph(int branches, int devices) {
  Module module;
  Graph& graph = module.AddFunction("wide");
  const ValueId x = graph.AddInput("x", {DType::kF32, {4, 16}, {}});
  auto add = [&](const OpDef& op, ValueIds operands, Attributes attributes,
                 int device) {
    NodeSpec spec{.op = &op,
                  .operands = std::move(operands),
                  .attributes = std::move(attributes)};
    spec.placement.devices = {absl::StrCat("gpu:", device)};
    return *graph.AddValue(std::move(spec));
  };
  ValueIds branch_results;
  for (int i = 0; i < branches; ++i) {
    const int device = i * devices / branches;
    const ValueId y = add(kSigmoid, {x}, {}, device);
    branch_results.push_back(add(kSoftmax, {y}, {}, device));
  }
  graph.SetOutputs(
      {add(kConcat, std::move(branch_results), {{"axis", int64_t{0}}}, 0)},
      {"y"});
  return module;
}

// Matmuls on two devices, split by rows and by columns alternately, with an
// all-to-all after each.
Module AlternatingSplits(int matmuls) {
  Module module;
  Graph& graph = module.AddFunction("splits");
  ValueId x = graph.AddInput("x", {DType::kF32, {16, 16}, {}});
  const ValueId w = graph.AddInput("w", {DType::kF32, {16, 16}, {}});
  const Sharding rows = {.kind = Sharding::Kind::kSplit, .dim = 0};
  const Sharding columns = {.kind = Sharding::Kind::kSplit, .dim = 1};
  for (int i = 0; i < matmuls; ++i) {
    NodeSpec spec{.op = &kMatmul, .operands = {x, w}};
    const bool by_rows = i % 2 == 0;
    spec.placement = {.devices = {"gpu:0", "gpu:1"},
                      .operands = {by_rows ? rows : Sharding(),
                                   by_rows ? Sharding() : columns},
                      .results = {by_rows ? rows : columns}};
    x = *graph.AddValue(std::move(spec));
  }
  graph.SetOutputs({x}, {"y"});
  return module;
}

void ExpectProvedWithinTheBounds(Module module, int devices) {
  SCOPED_TRACE(devices);
  const auto plan = PlanOf(std::move(module), LinkedMachine(devices));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status();
  const auto bounds = BoundMemory(*plan, plan->entries[0]);
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  for (size_t d = 0; d < bounds->size(); ++d) {
    EXPECT_LE(plan->devices[d].step_bytes, 1.05 * (*bounds)[d].bound_bytes);
  }
}

TEST(LargeLowering, TenThousandNodesStayWithinTheBounds) {
  for (int devices : {1, 4}) {
    ExpectProvedWithinTheBounds(LayeredGraph(10'000, devices), devices);
  }
}

// A comparison of all pairs would take more than ten seconds per device.
TEST(LargeLowering, TenThousandBranchesStayWithinTheBounds) {
  for (int devices : {1, 4}) {
    ExpectProvedWithinTheBounds(WideGraph(10'000, devices), devices);
  }
}

// Takes minutes if the bound compares live ranges pair by pair, or needs one
// round per matmul.
TEST(LargeLowering, FiveThousandAllToAllsStayWithinTheBounds) {
  ExpectProvedWithinTheBounds(AlternatingSplits(5'000), 2);
}

}  // namespace
}  // namespace partita
