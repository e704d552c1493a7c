// eval as a kernel, and layout conversions, over guarded memory.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/reference/reference_kernels.h"

#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "gtest/gtest.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

// y = 2 * x, so that these tests need no op of the table.
absl::Status InferTwice(const OpView& op, Types& results) {
  return results.Set(0, op.operand_type(0).RowMajor());
}
absl::Status EvaluateTwice(const OpView&, absl::Span<const HostTensor> in,
                           absl::Span<HostTensor> out) {
  for (int64_t i = 0; i < in[0].type().num_elements(); ++i) {
    SetFromDouble(out[0], i, 2 * GetAsDouble(in[0], i));
  }
  return absl::OkStatus();
}
Cost CostTwice(const OpView& op) {
  const double n = static_cast<double>(op.operand_type(0).num_elements());
  return {.flops = n, .bytes = 8 * n};
}
constinit const OpDef kTwice = {
    .name = "twice",
    .doc = "Twice the operand.",
    .operands = {{{"x"}}},
    .infer = InferTwice,
    .eval = EvaluateTwice,
    .cost = CostTwice,
};

Layout Parsed(absl::string_view text, int rank) {
  return text.empty() ? Layout{} : *ParseLayout(text, rank);
}

// A catalog that offers eval in layouts of the test's choice.
class InLayouts : public ReferenceCatalog {
 public:
  InLayouts(absl::string_view from, absl::string_view to)
      : from_(from), to_(to) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    std::vector<KernelChoice> choices = ReferenceCatalog::Choices(node, device);
    choices[0].operands[0] = Parsed(from_, node.operand_type(0).rank());
    choices[0].results[0] = Parsed(to_, node.result_type(0).rank());
    choices[0].workspace =
        *ReferenceWorkspace(WithLayouts(node, choices[0]).node());
    return choices;
  }

 private:
  std::string from_;
  std::string to_;
};

void ExpectRight(const OpView& node, const KernelCatalog& catalog) {
  const CheckReport report = CheckKernels(node, catalog, ReferenceLibrary());
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.kernels.size(), 2);  // one and two threads
}

TEST(ReferenceKernels, EvalInAnyLayouts) {
  for (const char* from : {"", "acdb", "abcd16b"}) {
    for (const char* to : {"", "abcd8b", "dcba"}) {
      const OneNode one(kTwice, {{DType::kF32, {2, 19, 3, 5}, {}}});
      ExpectRight(one.node(), InLayouts(from, to));
    }
  }
}

TEST(ReferenceKernels, EmptyAndScalarTensors) {
  ExpectRight(OneNode(kTwice, {{DType::kF64, {}, {}}}).node(),
              ReferenceCatalog());
  ExpectRight(OneNode(kTwice, {{DType::kI32, {3, 0}, {}}}).node(),
              ReferenceCatalog());
}

TEST(ReferenceKernels, AFusedBodyKeepsItsIntermediatesInTheWorkspace) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", {DType::kF32, {7, 9}, {}});
  const ValueId y = *body->AddValue({.op = &kTwice, .operands = {x}});
  const ValueId z = *body->AddValue({.op = &kTwice, .operands = {y}});
  // One computed value twice, an input and a constant.
  const LiteralId literal = pool->Add(HostTensor::Of<float>({2}, {3.0f, 4.0f}));
  body->SetOutputs({z, z, x, body->AddConstant(literal)});
  const OneNode one(std::move(pool), std::move(body));
  EXPECT_EQ(*ReferenceWorkspace(one.node()), 256);
  ExpectRight(one.node(), ReferenceCatalog());
  ExpectRight(one.node(), InLayouts("ba", "ba"));
}

TEST(ReferenceKernels, AReorderGoesFromThePresentLayoutToTheNamedOne) {
  const OneNode one(kReorder, {{DType::kF32, {2, 19, 3, 5}, Parsed("acdb", 4)}},
                    {{"layout", std::string("abcd16b")}});
  const std::vector<KernelChoice> choices =
      ReferenceCatalog().Choices(one.node(), TestCpu(1));
  ASSERT_EQ(choices.size(), 1);
  EXPECT_EQ(choices[0].operands[0].ToString(), "acdb");
  EXPECT_EQ(choices[0].results[0].ToString(), "abcd16b");
  EXPECT_EQ(choices[0].workspace, 0);
  ExpectRight(one.node(), ReferenceCatalog());
}

TEST(ReferenceKernels, TooSmallABudgetIsRefusedWithBothNumbers) {
  const OneNode one(kTwice, {{DType::kF32, {4, 4}, Parsed("ba", 2)}});
  const KernelBinding binding{"reference.eval", 63, {}, {}};
  const DeviceTraits device = TestCpu(1);
  const absl::Status status =
      ReferenceLibrary().Bind({one.node(), &binding, &device}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "twice %1: found 64 bytes of workspace needed by reference.eval; "
            "expected at most 63; compile the plan again");
}

}  // namespace
}  // namespace partita
