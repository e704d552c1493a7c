// Attention and its gradient against eval: heads of every size, more queries
// than a block has, and numbers that are none.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/checking/kernel_check.h"
#include "kernels/cpu/cpu_kernels.h"

namespace partita {
namespace {

TensorType F32(const Shape& dims) { return {DType::kF32, dims, {}}; }

struct Extents {
  int64_t n, positions, heads, size;
};

OneNode Attention(const Extents& e, bool causal, bool gradient) {
  std::vector<TensorType> types = {F32({e.n, e.positions, 3, e.heads, e.size})};
  if (gradient) types.push_back(F32({e.n, e.positions, e.heads, e.size}));
  return OneNode(gradient ? kAttentionGradient : kAttention, types,
                 {{"causal", causal}});
}

void ExpectRight(const OneNode& one, const KernelCheckOptions& options) {
  const CheckReport report =
      CheckKernels(one.node(), CpuCatalog(), CpuLibrary(), options);
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.kernels.size(), 2u) << "one for each number of threads";
}

TEST(CpuAttention, SizesThatFillVectorsAndBlocksAndOthers) {
  KernelCheckOptions options;
  options.tolerance = 4e-6;
  for (const Extents& e :
       {Extents{2, 5, 2, 4}, Extents{1, 1, 1, 16}, Extents{2, 64, 2, 64},
        Extents{1, 65, 3, 20}, Extents{1, 130, 1, 80}, Extents{3, 71, 2, 32}}) {
    for (bool causal : {false, true}) {
      for (bool gradient : {false, true}) {
        ExpectRight(Attention(e, causal, gradient), options);
      }
    }
  }
}

// Of the last position's key and value, which only the last query sees.
TEST(CpuAttention, WhatAPositionDoesNotSeeDoesNotReachIt) {
  const Extents e = {1, 70, 1, 16};
  for (double special : {std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::infinity()}) {
    for (int part : {1, 2}) {
      HostTensor x(F32({e.n, e.positions, 3, e.heads, e.size}));
      for (int64_t i = 0; i < x.type().num_elements(); ++i) {
        SetFromDouble(x, i, static_cast<double>(i % 7) / 8 + 0.125);
      }
      SetFromDouble(x, ((e.positions - 1) * 3 + part) * e.size, special);
      KernelCheckOptions options;
      options.tolerance = 4e-6;
      options.operands = {&x};
      ExpectRight(Attention(e, /*causal=*/true, /*gradient=*/false), options);
      ExpectRight(Attention(e, /*causal=*/true, /*gradient=*/true), options);
    }
  }
}

TEST(CpuAttention, OtherTypesAndNothingAreNotOffered) {
  for (const TensorType& x : {TensorType{DType::kF64, {1, 2, 3, 1, 4}, {}},
                              TensorType{DType::kF32, {0, 2, 3, 1, 4}, {}}}) {
    const OneNode one(kAttention, {x}, {});
    EXPECT_TRUE(CpuCatalog().Choices(one.node(), TestCpu(1)).empty());
  }
}

}  // namespace
}  // namespace partita
