// Tests the choice of kernels with a toy catalog.
// SPDX-License-Identifier: Apache-2.0

#include "binding/choose_kernels.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

// Computes no neg, and no fused node with a matmul.
class ToyCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits&) const override {
    if (node.is(kNeg)) return {};
    if (node.is(kFused) && !node.region(0).ops(kMatmul).empty()) return {};
    KernelChoice choice;
    choice.kernel = "toy.any";
    choice.operands.resize(node.num_operands());
    choice.results.resize(node.num_results());
    choice.seconds = 1;
    choice.arithmetics = {{.source = "toy"}};
    return {choice};
  }
};

class ChooseKernelsTest : public testing::Test {
 protected:
  absl::StatusOr<std::vector<PricedNode>> Choose(const std::string& text) {
    module_ = ParseModule(text, "choose_kernels_test", OpSet::BuiltIn());
    if (!module_.ok()) return module_.status();
    std::vector<DeviceTraits> devices(2);
    devices[0].name = "cpu:0";
    devices[1].name = "cpu:1";
    PackedConstants packed;
    return ChooseKernels(module_->main(), ToyCatalog(), devices, packed);
  }

  absl::StatusOr<Module> module_;
};

TEST_F(ChooseKernelsTest, AFusedNodeWithoutAKernelBecomesAProductAndALoop) {
  const auto chosen = Choose(R"(
graph @main(%x: f32[2, 3] on cpu:0, %w: f32[3, 4] on cpu:0, %r: f32[2, 4] on cpu:0) -> f32[2, 4] {
  %y = fused %x, %w, %r @body(%x: f32[2, 3], %w: f32[3, 4], %r: f32[2, 4]) {
    %p = matmul %x, %w : f32[2, 4]
    %a = add %p, %r : f32[2, 4]
    %y = relu %a : f32[2, 4]
    return %y
  } : f32[2, 4] on cpu:0
  return %y
})");
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->size(), 2u);
  const std::vector<OpView> ops = module_->main().ops();
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_TRUE(ops[0].is(kMatmul));
  EXPECT_TRUE(ops[1].is(kFused));
  for (const OpView& op : ops) {
    ASSERT_TRUE(op.node().kernel.has_value()) << op.ToString();
    EXPECT_EQ(op.node().kernel->kernel, "toy.any");
    EXPECT_EQ(ArithmeticsText(op.node().kernel->arithmetics), "toy");
  }
}

// A value in the middle of the loop is read outside too.
TEST_F(ChooseKernelsTest, EveryResultOfALoopIsSharded) {
  const auto chosen = Choose(R"(
graph @main(%x: f32[2, 3] on {cpu:0, cpu:1} -> (split 0), %w: f32[3, 4] on {cpu:0, cpu:1}, %r: f32[2, 4] on {cpu:0, cpu:1} -> (split 0)) -> (f32[2, 4], f32[2, 4]) {
  %a, %y = fused %x, %w, %r @body(%x: f32[2, 3], %w: f32[3, 4], %r: f32[2, 4]) {
    %p = matmul %x, %w : f32[2, 4]
    %a = add %p, %r : f32[2, 4]
    %y = relu %a : f32[2, 4]
    return %a, %y
  } : f32[2, 4], f32[2, 4] on {cpu:0, cpu:1} (split 0, replicated, split 0) -> (split 0, split 0)
  return %a, %y
})");
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  const std::vector<OpView> ops = module_->main().ops();
  ASSERT_EQ(ops.size(), 2u);
  const Sharding rows{.kind = Sharding::Kind::kSplit};
  EXPECT_EQ(ops[1].node().placement.results, (std::vector{rows, rows}));
}

TEST_F(ChooseKernelsTest, AnErrorCountsTheNodesThatItDoesNotList) {
  std::vector<std::string> nodes, results, types;
  for (int i = 0; i < 25; ++i) {
    nodes.push_back(absl::StrCat("  %n", i, " = neg %x : f32[2] on cpu:0\n"));
    results.push_back(absl::StrCat("%n", i));
    types.push_back("f32[2]");
  }
  const absl::Status status =
      Choose(absl::StrCat("graph @main(%x: f32[2] on cpu:0) -> (",
                          absl::StrJoin(types, ", "), ") {\n",
                          absl::StrJoin(nodes, ""), "  return ",
                          absl::StrJoin(results, ", "), "\n}\n"))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::EndsWith(
      status.message(),
      "\n  neg %n19 of (f32[2]) on cpu:0\n  and 5 more\n"
      "expected a device that has one; pin these to another device"))
      << status.message();
}

}  // namespace
}  // namespace partita
