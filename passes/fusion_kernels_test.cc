// Tests that fusions leave what no device's kernel computes whole.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/kernel_catalog.h"
#include "graph/node_kernels.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "passes/fuse_elementwise.h"
#include "passes/fuse_epilogue.h"

namespace partita {
namespace {

// Computes everything, but has only a fallback for fused nodes with an op that
// the device lacks.
class ToyCatalog : public KernelCatalog {
 public:
  explicit ToyCatalog(std::string device, const OpDef& lacks)
      : device_(std::move(device)), lacks_(lacks) {}

  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    KernelChoice choice;
    choice.kernel = "toy.any";
    choice.operands.resize(node.num_operands());
    choice.results.resize(node.num_results());
    choice.seconds = 1;
    choice.fallback =
        device.name == device_ && node.is(kFused) &&
        absl::c_any_of(node.region(0).ops(),
                       [&](const OpView& op) { return op.is(lacks_); });
    return {choice};
  }

 private:
  const std::string device_;
  const OpDef& lacks_;
};

// On cpu:0 no kernel for fused nodes with a tanh.
class FusionKernels : public testing::Test {
 protected:
  FusionKernels() : catalog_("cpu:0", kTanh), devices_(1) {
    devices_[0].name = "cpu:0";
    context_.has_kernel = [this](const OpView& fused) {
      return RunsFused(fused, catalog_, ClassesOf(devices_));
    };
  }

  void AddGpu() {
    devices_.emplace_back();
    devices_.back().name = "gpu:0";
    devices_.back().kind = DeviceKind::kCuda;
  }

  // The text of the graph after both fusions.
  std::string Fused(const std::string& text) {
    auto module = ParseModule(text, "fusion_kernels_test", OpSet::BuiltIn());
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return "";
    Graph& graph = module->main();
    EXPECT_TRUE(FuseEpilogue(graph, context_).ok());
    EXPECT_TRUE(FuseElementwise(graph, context_).ok());
    return PrintGraph(graph);
  }

  ToyCatalog catalog_;
  std::vector<DeviceTraits> devices_;
  PassContext context_;
};

constexpr char kTanhAfterMatmul[] =
    R"(graph @main(%x: f32[2, 3], %w: f32[3, 4], %r: f32[2, 4]) -> f32[2, 4] {
  %p = matmul %x, %w : f32[2, 4]
  %a = add %p, %r : f32[2, 4]
  %y = tanh %a : f32[2, 4]
  return %y
}
)";

constexpr char kReluAfterMatmul[] =
    R"(graph @main(%x: f32[2, 3], %w: f32[3, 4], %r: f32[2, 4]) -> f32[2, 4] {
  %p = matmul %x, %w : f32[2, 4]
  %a = add %p, %r : f32[2, 4]
  %y = relu %a : f32[2, 4]
  return %y
}
)";

int CountFused(const std::string& text) {
  int count = 0;
  for (size_t at = text.find("= fused"); at != std::string::npos;
       at = text.find("= fused", at + 1)) {
    ++count;
  }
  return count;
}

TEST_F(FusionKernels, WhatNoKernelComputesWholeIsLeft) {
  EXPECT_EQ(CountFused(Fused(kTanhAfterMatmul)), 0);
}

TEST_F(FusionKernels, WhatAKernelComputesIsFused) {
  EXPECT_EQ(CountFused(Fused(kReluAfterMatmul)), 1);
}

TEST_F(FusionKernels, OneDeviceWithAKernelIsEnough) {
  AddGpu();
  EXPECT_EQ(CountFused(Fused(kTanhAfterMatmul)), 1);
}

TEST_F(FusionKernels, PinnedNodesAskTheirDevicesOnly) {
  AddGpu();
  constexpr char kPinned[] =
      R"(graph @main(%x: f32[2, 4], %r: f32[2, 4]) -> (f32[2, 4], f32[2, 4]) {
  %a = add %x, %r : f32[2, 4] on cpu:0
  %y = tanh %a : f32[2, 4] on cpu:0
  %b = sub %x, %r : f32[2, 4] on gpu:0
  %z = tanh %b : f32[2, 4] on gpu:0
  return %y, %z
}
)";
  const std::string fused = Fused(kPinned);
  EXPECT_EQ(CountFused(fused), 1);
  EXPECT_NE(fused.find("%y = tanh %a"), std::string::npos) << fused;
}

// What the product's epilogue cannot take, elementwise fusion may.
TEST_F(FusionKernels, TheOpsOfALeftEpilogueMayBecomeAClusterOfTheirOwn) {
  context_.has_kernel = [](const OpView& fused) {
    return absl::c_none_of(fused.region(0).ops(),
                           [](const OpView& op) { return op.is(kMatmul); });
  };
  const std::string fused = Fused(kTanhAfterMatmul);
  EXPECT_NE(fused.find("%p = matmul %x, %w"), std::string::npos) << fused;
  EXPECT_EQ(CountFused(fused), 1);
}

// Kernels may depend on them: weights that are packed, known exponents.
TEST_F(FusionKernels, TheQuestionShowsConstants) {
  std::vector<bool> is_constant;
  context_.has_kernel = [&](const OpView& fused) {
    for (int i = 0; i < fused.num_operands(); ++i) {
      is_constant.push_back(fused.operand(i).is_constant());
    }
    return true;
  };
  Fused(R"(graph @main(%x: f32[2, 2]) -> f32[2, 2] {
  %c = constant f32[2] [1, 2]
  %a = mul %x, %c : f32[2, 2]
  %y = relu %a : f32[2, 2]
  return %y
}
)");
  EXPECT_EQ(is_constant, (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace partita
