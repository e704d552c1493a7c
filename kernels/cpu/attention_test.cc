// Compares attention and its gradient with eval: heads of every size, more
// queries than a block, and values that are not finite.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

constexpr int64_t kMostPast = std::numeric_limits<int64_t>::max();

TensorType F32(const Shape& dims) { return {DType::kF32, dims, {}}; }

struct Extents {
  int64_t n, heads, kv_heads, queries, keys, size, value_size;
};

Extents Square(int64_t n, int64_t positions, int64_t heads, int64_t size) {
  return {n, heads, heads, positions, positions, size, size};
}

Shape Dims(const Extents& e, bool positions_first, int64_t heads,
           int64_t positions, int64_t size) {
  return positions_first ? Shape{e.n, positions, heads, size}
                         : Shape{e.n, heads, positions, size};
}

OneNode Attention(const Extents& e, bool gradient, Attributes attributes,
                  const std::vector<Shape>& mask = {}) {
  const bool rows = attributes.Find("positions_first") != nullptr;
  std::vector<TensorType> types = {
      F32(Dims(e, rows, e.heads, e.queries, e.size)),
      F32(Dims(e, rows, e.kv_heads, e.keys, e.size)),
      F32(Dims(e, rows, e.kv_heads, e.keys, e.value_size))};
  if (gradient) {
    types.push_back(F32(Dims(e, rows, e.heads, e.queries, e.value_size)));
  }
  for (const Shape& dims : mask) types.push_back(F32(dims));
  attributes.Set("scale", 1 / std::sqrt(static_cast<double>(e.size)));
  return OneNode(gradient ? kAttentionGradient : kAttention, types,
                 std::move(attributes));
}

void ExpectRight(const OneNode& one, KernelCheckOptions options = {}) {
  options.tolerance = 4e-6;
  const CheckReport report =
      CheckKernels(one.node(), CpuCatalog(), CpuLibrary(), options);
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.kernels.size(), 2u) << "one for each number of threads";
}

TEST(CpuAttention, SizesThatFillVectorsAndBlocksAndOthers) {
  for (const Extents& e :
       {Square(2, 5, 2, 4), Square(1, 1, 1, 16), Square(2, 64, 2, 64),
        Square(1, 65, 3, 20), Square(1, 130, 1, 80), Square(3, 71, 2, 32)}) {
    for (bool gradient : {false, true}) {
      ExpectRight(Attention(e, gradient, {}));
      ExpectRight(Attention(e, gradient, {{"causal", true}}));
      ExpectRight(Attention(e, gradient,
                            {{"causal", true}, {"positions_first", true}}));
    }
  }
}

// Groups of heads, alone and in joined strips; more keys than queries and
// fewer; values of another size.
TEST(CpuAttention, GroupsAndKeysOfAnotherNumber) {
  for (const Extents& e :
       {Extents{2, 6, 2, 1, 130, 16, 16}, Extents{1, 8, 1, 5, 7, 20, 12},
        Extents{1, 4, 2, 70, 90, 8, 24}, Extents{2, 2, 1, 90, 70, 16, 16}}) {
    for (bool gradient : {false, true}) {
      ExpectRight(Attention(e, gradient, {}));
      ExpectRight(Attention(e, gradient, {{"positions_first", true}}));
      for (int64_t past : {int64_t{0}, int64_t{3}, int64_t{60}, kMostPast}) {
        ExpectRight(Attention(e, gradient, {{"causal", true}, {"past", past}}));
      }
    }
  }
}

TEST(CpuAttention, MasksOfEveryExtentAndSoftcaps) {
  const Extents e = {2, 4, 2, 19, 70, 16, 16};
  const Extents joined = {2, 4, 1, 3, 70, 16, 16};
  const Extents few = {2, 4, 2, 2, 70, 20, 16};
  for (bool gradient : {false, true}) {
    for (const Shape& mask :
         {Shape{2, 4, 19, 70}, Shape{1, 4, 19, 1}, Shape{2, 1, 1, 70},
          Shape{19, 70}, Shape{70}, Shape{4, 1, 70}, Shape{}}) {
      ExpectRight(Attention(e, gradient, {}, {mask}));
    }
    for (const Shape& mask :
         {Shape{2, 4, 3, 70}, Shape{4, 1, 70}, Shape{2, 1, 1, 70}}) {
      ExpectRight(Attention(joined, gradient, {}, {mask}));
    }
    for (const Shape& mask : {Shape{2, 4, 2, 70}, Shape{2, 70}, Shape{70}}) {
      ExpectRight(Attention(few, gradient, {{"softcap", 2.0}}, {mask}));
    }
    ExpectRight(Attention(e, gradient, {{"softcap", 0.75}}, {{19, 70}}));
    ExpectRight(Attention(e, gradient, {{"softcap", 20.0}, {"causal", true}}));
  }
}

// The first query sees no key, the second none of the first block.
TEST(CpuAttention, QueriesThatSeeNothing) {
  const Extents e = {1, 2, 2, 20, 140, 16, 16};
  HostTensor mask(F32({20, 140}));
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 140; ++j) {
      const bool hidden = i == 0 || (i == 1 && j < 70);
      SetFromDouble(mask, i * 140 + j,
                    hidden ? -std::numeric_limits<double>::infinity() : 0);
    }
  }
  for (bool zero : {false, true}) {
    KernelCheckOptions options;
    options.operands = {nullptr, nullptr, nullptr, &mask};
    ExpectRight(Attention(e, false, {{"zero_blind", zero}}, {{20, 140}}),
                options);
    options.operands = {nullptr, nullptr, nullptr, nullptr, &mask};
    ExpectRight(Attention(e, true, {{"zero_blind", zero}}, {{20, 140}}),
                options);
  }
}

// Only the last query sees the last position's key and value.
TEST(CpuAttention, WhatAPositionDoesNotSeeDoesNotReachIt) {
  const Extents e = Square(1, 70, 1, 16);
  for (double special : {std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::infinity()}) {
    for (int part : {1, 2}) {
      HostTensor x(F32({1, 1, e.keys, e.size}));
      for (int64_t i = 0; i < x.type().num_elements(); ++i) {
        SetFromDouble(x, i, static_cast<double>(i % 7) / 8 + 0.125);
      }
      SetFromDouble(x, (e.keys - 1) * e.size, special);
      KernelCheckOptions options;
      options.operands.resize(part + 1);
      options.operands[part] = &x;
      ExpectRight(Attention(e, false, {{"causal", true}}), options);
      ExpectRight(Attention(e, true, {{"causal", true}}), options);
    }
  }
}

TEST(CpuAttention, OtherTypesAndNothingAreNotOffered) {
  for (const TensorType& x : {TensorType{DType::kF64, {1, 2, 3, 4}, {}},
                              TensorType{DType::kF32, {0, 2, 3, 4}, {}}}) {
    const OneNode one(kAttention, {x, x, x}, {{"scale", 1.0}});
    EXPECT_TRUE(CpuCatalog().Choices(one.node(), TestCpu(1)).empty());
  }
}

}  // namespace
}  // namespace partita
