// Every op with a fast f32 kernel has a fast f16 and bf16 kernel with the
// results of eval.
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"
#include "kernels/catalog/host_kernels.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

bool IsFast(const OpView& node) {
  const auto choices = HostCatalog().Choices(node, TestCpu(2));
  return absl::c_any_of(choices,
                        [](const KernelChoice& c) { return !c.fallback; });
}

bool IsFast(const OpSample& sample) {
  LiteralPool pool;
  Graph graph("sample", &pool);
  const absl::StatusOr<NodeId> node = AddSample(sample, graph);
  return node.ok() && IsFast(graph.view(*node));
}

bool IsAccepted(const OpSample& sample) {
  LiteralPool pool;
  Graph graph("sample", &pool);
  return AddSample(sample, graph).ok();
}

// The sample with f32 replaced by `half`; nullopt if no operand is f32, or if
// the op refuses the type.
std::optional<OpSample> InHalves(OpSample sample, DType half) {
  bool has_f32 = false;
  for (SampleOperand& operand : sample.operands) {
    if (operand.dtype != DType::kF32) continue;
    operand.dtype = half;
    has_f32 = true;
  }
  if (!has_f32 || !IsAccepted(sample)) return std::nullopt;
  return sample;
}

// Compares each fast kernel of the sample with eval; returns their number.
size_t ExpectRight(const OpSample& sample) {
  LiteralPool pool;
  Graph graph("sample", &pool);
  const OpView node = graph.view(*AddSample(sample, graph));
  std::vector<HostTensor> tensors;
  for (const SampleOperand& operand : sample.operands) {
    tensors.push_back(RandomTensor(operand, 7));
  }
  KernelCheckOptions options;
  for (const HostTensor& tensor : tensors) options.operands.push_back(&tensor);
  size_t kernels = 0;
  for (const KernelLibrary* library : HostLibraries()) {
    if (library->name() == "reference") continue;
    const CheckReport report =
        CheckKernels(node, HostCatalog(), *library, options);
    EXPECT_TRUE(report.status.ok())
        << ToString(sample) << ": " << report.status;
    kernels += report.kernels.size();
  }
  return kernels;
}

TEST(HalfKernels, WhatIsFastInF32IsFastInHalvesAndRight) {
  size_t checked = 0;
  for (const OpSample& sample : OpSamples()) {
    if (!IsFast(sample)) continue;
    for (const DType half : {DType::kBF16, DType::kF16}) {
      const std::optional<OpSample> halves = InHalves(sample, half);
      if (!halves.has_value()) continue;
      EXPECT_TRUE(IsFast(*halves))
          << ToString(*halves) << " has no kernel but eval";
      checked += ExpectRight(*halves) > 0;
    }
  }
  EXPECT_GT(checked, 200u);
}

TEST(HalfKernels, CastsOfIntegersToF16AreFast) {
  for (const DType from : {DType::kI32, DType::kI64, DType::kBool}) {
    EXPECT_TRUE(IsFast(
        OneNode(kCast, {{from, {4, 5}, {}}}, {{"to", DType::kF16}}).node()));
    EXPECT_TRUE(IsFast(
        OneNode(kCast, {{DType::kF16, {4, 5}, {}}}, {{"to", from}}).node()));
  }
}

}  // namespace
}  // namespace partita
