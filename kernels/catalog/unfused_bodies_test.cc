// Compares fused nodes that run by the kernels of their ops with eval.
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <string>
#include <utility>

#include "graph/ops/op_list.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "kernels/catalog/host_kernels.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/native_code/native_code_library.h"
#include "kernels/testing/kernel_check.h"
#include "kernels/unfused/body_segments.h"

namespace partita {
namespace {

// The host's library, over all of its kernels.
const KernelLibrary& Library() {
  for (const KernelLibrary* library : HostLibraries()) {
    if (library->name() == "unfused") return *library;
  }
  std::abort();
}

absl::StatusOr<BoundKernel> Bind(const OpView& node, int64_t workspace,
                                 const DeviceTraits& device) {
  const KernelBinding binding = {.kernel = "unfused", .workspace = workspace};
  return Library().Bind({node, &binding, &device});
}

// Offers, as a choice, the row-major kernel that the library binds, with the
// least workspace.
class BoundAsChoice : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    int64_t too_little = -1, enough = 1 << 24;
    while (enough - too_little > 1) {
      const int64_t tried = too_little + (enough - too_little) / 2;
      (Bind(node, tried, device).ok() ? enough : too_little) = tried;
    }
    const auto bound = Bind(node, enough, device);
    EXPECT_TRUE(bound.ok()) << bound.status();
    if (!bound.ok()) return {};
    KernelChoice choice;
    choice.kernel = bound->id;
    choice.operands.resize(node.num_operands());
    choice.results.resize(node.num_results());
    choice.workspace = enough;
    choice.seconds = 1;
    choice.arithmetics = {bound->arithmetic};
    return {choice};
  }

  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override {
    const auto segments = SegmentsOf(nodes[0]);
    if (!segments.ok()) return segments.status();
    std::vector<OpView> loops;
    for (const BodySegment& segment : *segments) {
      const OpView node = segment.node();
      if (!CodegenCatalog().Choices(node, device).empty()) {
        loops.push_back(node);
      }
    }
    return BuildCodeOf(loops, device);
  }
};

// A module whose last node is fused.
class Text {
 public:
  explicit Text(const std::string& text)
      : module_(
            ParseModule(text, "unfused_kernels_test.cc", OpSet::BuiltIn())) {
    EXPECT_TRUE(module_.ok()) << module_.status();
  }
  OpView fused() const { return module_->main().ops().back(); }

 private:
  absl::StatusOr<Module> module_;
};

struct Checked {
  KernelId kernel;
  int64_t workspace;
};

// With one thread and with two, over guarded memory.
Checked ExpectRight(const std::string& text) {
  const Text module(text);
  const OpView node = module.fused();
  const CheckReport report = CheckKernels(node, BoundAsChoice(), Library());
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.kernels.size(), 2u);
  const auto choices = BoundAsChoice().Choices(node, TestCpu(1));
  if (choices.empty()) return {};
  return {choices[0].kernel, choices[0].workspace};
}

constexpr char kResidual[] = R"(
graph @main(%x: f32[1, 16, 9, 9], %w: f32[16, 16, 3, 3], %b: f32[16], %r: f32[1, 16, 9, 9]) -> f32[1, 16, 9, 9] {
  %y = fused %x, %w, %b, %r @body(%x: f32[1, 16, 9, 9], %w: f32[16, 16, 3, 3], %b: f32[16], %r: f32[1, 16, 9, 9]) {
    %c = conv %x, %w, %b {pads_before = [1, 1], pads_after = [1, 1]} : f32[1, 16, 9, 9]
    %a = relu %c : f32[1, 16, 9, 9]
    %y = add %a, %r : f32[1, 16, 9, 9]
    return %y
  } : f32[1, 16, 9, 9]
  return %y
})";

TEST(Unfused, AnActivationBeforeTheResidualFollowsTheConvolution) {
  EXPECT_EQ(ExpectRight(kResidual).kernel,
            "unfused.onednn.conv+codegen.elementwise");
}

// No code was built for it: the plan names another kernel for the whole node.
TEST(Unfused, TheLoopHasCodeWhenItIsBound) {
  const Text module(R"(
graph @main(%x: f32[5, 7], %w: f32[7, 11]) -> f32[5, 11] {
  %y = fused %x, %w @body(%x: f32[5, 7], %w: f32[7, 11]) {
    %p = matmul %x, %w : f32[5, 11]
    %t = tanh %p : f32[5, 11]
    %y = mul %t, %p : f32[5, 11]
    return %y
  } : f32[5, 11]
  return %y
})");
  const DeviceTraits device = TestCpu(1);
  const auto bound = Bind(module.fused(), 1 << 24, device);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(bound->id, "unfused.onednn.matmul+codegen.elementwise");
  const auto segments = SegmentsOf(module.fused());
  ASSERT_TRUE(segments.ok()) << segments.status();
  EXPECT_TRUE(HasCode(segments->back().node(), device));
}

TEST(Unfused, TheConvolutionsResultIsStoredWhereTheLoopWrites) {
  const Text module(kResidual);
  const auto segments = SegmentsOf(module.fused());
  ASSERT_TRUE(segments.ok()) << segments.status();
  ASSERT_EQ(segments->size(), 2u);
  const DeviceTraits device = TestCpu(1);
  const auto alone = [&](int64_t workspace) {
    const KernelBinding binding = {.kernel = "onednn", .workspace = workspace};
    return HostLibraries().front()->Bind(
        {segments->front().node(), &binding, &device});
  };
  const int64_t workspace = ExpectRight(kResidual).workspace;
  EXPECT_TRUE(alone(workspace).ok());
  EXPECT_FALSE(workspace > 0 && alone(workspace - 1).ok());
}

TEST(Unfused, AProductThatIsAResultTooIsLeftAsItIs) {
  const Checked checked = ExpectRight(R"(
graph @main(%x: f32[5, 7], %w: f32[7, 9]) -> (f32[5, 9], f32[5, 9]) {
  %y, %p = fused %x, %w @body(%x: f32[5, 7], %w: f32[7, 9]) {
    %p = matmul %x, %w : f32[5, 9]
    %s = sigmoid %p : f32[5, 9]
    %y = mul %s, %p : f32[5, 9]
    return %y, %p
  } : f32[5, 9], f32[5, 9]
  return %y, %p
})");
  EXPECT_EQ(checked.kernel, "unfused.onednn.matmul+codegen.elementwise");
}

// Two segments read %h, and no result is as large as %k.
TEST(Unfused, IntermediatesThatShareNoResultAreInTheWorkspace) {
  const Checked checked = ExpectRight(R"(
graph @main(%x: f32[5, 7], %w: f32[7, 9], %v: f32[9, 3], %u: f32[9, 3]) -> f32[5, 3] {
  %y = fused %x, %w, %v, %u @body(%x: f32[5, 7], %w: f32[7, 9], %v: f32[9, 3], %u: f32[9, 3]) {
    %n = neg %x : f32[5, 7]
    %k = matmul %n, %w : f32[5, 9]
    %h = relu %k : f32[5, 9]
    %p = matmul %h, %v : f32[5, 3]
    %q = matmul %h, %u : f32[5, 3]
    %s = sub %p, %q : f32[5, 3]
    %y = mul %s, %p : f32[5, 3]
    return %y
  } : f32[5, 3]
  return %y
})");
  EXPECT_EQ(checked.kernel,
            "unfused.codegen.elementwise+onednn.matmul+codegen.elementwise+"
            "onednn.matmul+onednn.matmul+codegen.elementwise");
  // %n (140 bytes), %k and %h (180 each), and %q (60); %p shares the result.
  EXPECT_GE(checked.workspace, 192 + 192 + 192 + 64);
}

TEST(Unfused, ConstantsOfTheBodyAreReadWhereTheyAre) {
  const Checked checked = ExpectRight(R"(
graph @main(%x: f32[2, 3], %b: f32[2]) -> f32[2, 2] {
  %y = fused %x, %b @body(%x: f32[2, 3], %b: f32[2]) {
    %w = constant f32[3, 2] [1, 2, 3, 4, 5, 6]
    %h = constant f32[] 0.5
    %s = mul %b, %h : f32[2]
    %p = matmul %x, %w : f32[2, 2]
    %y = add %p, %s : f32[2, 2]
    return %y
  } : f32[2, 2]
  return %y
})");
  EXPECT_EQ(checked.kernel,
            "unfused.codegen.elementwise+onednn.matmul+codegen.elementwise");
}

// A sequence of elementwise ops with several extents becomes several loops.
TEST(Unfused, ALoopHasOneExtent) {
  const Checked checked = ExpectRight(R"(
graph @main(%x: f32[4, 6], %w: f32[6, 8], %b: f32[8], %c: f32[8]) -> f32[4, 8] {
  %y = fused %x, %w, %b, %c @body(%x: f32[4, 6], %w: f32[6, 8], %b: f32[8], %c: f32[8]) {
    %p = matmul %x, %w : f32[4, 8]
    %d = mul %b, %c : f32[8]
    %e = tanh %d : f32[8]
    %q = add %p, %e : f32[4, 8]
    %y = mul %q, %d : f32[4, 8]
    return %y
  } : f32[4, 8]
  return %y
})");
  EXPECT_EQ(checked.kernel,
            "unfused.onednn.matmul+codegen.elementwise+codegen.elementwise");
}

TEST(Unfused, AnOpWithoutAFastKernelIsComputedByTheFallback) {
  const Checked checked = ExpectRight(R"(
graph @main(%x: f32[4, 6], %w: f32[6, 5]) -> f32[4, 5] {
  %y = fused %x, %w @body(%x: f32[4, 6], %w: f32[6, 5]) {
    %p = matmul %x, %w : f32[4, 5]
    %c = cumsum %p {axis = 1} : f32[4, 5]
    %y = relu %c : f32[4, 5]
    return %y
  } : f32[4, 5]
  return %y
})");
  EXPECT_EQ(checked.kernel,
            "unfused.onednn.matmul+reference.eval+codegen.elementwise");
}

TEST(Unfused, ABodyOfTheFallbacksAloneIsRefused) {
  const Text module(R"(
graph @main(%x: f32[4, 6]) -> f32[4, 6] {
  %y = fused %x @body(%x: f32[4, 6]) {
    %c = cumsum %x {axis = 1} : f32[4, 6]
    %y = cumsum %c {axis = 0} : f32[4, 6]
    return %y
  } : f32[4, 6]
  return %y
})");
  EXPECT_EQ(Bind(module.fused(), 1 << 20, TestCpu(1)).status().message(),
            "fused %y: found nothing but reference for the ops of its body; "
            "expected a kernel for one of them");
}

TEST(Unfused, AResultThatNoOpMakesIsRefused) {
  const Text module(R"(
graph @main(%x: f32[4, 6]) -> (f32[4, 6], f32[4, 6]) {
  %y, %z = fused %x @body(%x: f32[4, 6]) {
    %y = relu %x : f32[4, 6]
    return %y, %x
  } : f32[4, 6], f32[4, 6]
  return %y, %z
})");
  EXPECT_EQ(Bind(module.fused(), 1 << 20, TestCpu(1)).status().message(),
            "fused %y: found result 1 that is an operand, a constant or "
            "another result; expected one that an op of the body makes");
  const OneNode alone(kRelu, {{DType::kF32, {4, 6}, {}}});
  EXPECT_EQ(Bind(alone.node(), 1 << 20, TestCpu(1)).status().message(),
            "relu %1: found a node of one op; expected a fused one");
}

TEST(Unfused, TooLittleWorkspaceIsRefusedWithBothNumbers) {
  const Text module(R"(
graph @main(%x: f32[5, 7], %w: f32[7, 9]) -> f32[5, 9] {
  %y = fused %x, %w @body(%x: f32[5, 7], %w: f32[7, 9]) {
    %n = neg %x : f32[5, 7]
    %y = matmul %n, %w : f32[5, 9]
    return %y
  } : f32[5, 9]
  return %y
})");
  const absl::Status status = Bind(module.fused(), 191, TestCpu(1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "fused %y: found 192 bytes of workspace needed for intermediates "
            "by unfused; expected at most 191; compile the plan again on this "
            "machine");
}

}  // namespace
}  // namespace partita
