// Integer functions of generated kernels: bounds, zeros and wrapping, exactly.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/codegen_loader/testing/generated_kernels.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

constexpr DType kIntegers[] = {DType::kI8,  DType::kU8,  DType::kI16,
                               DType::kU16, DType::kI32, DType::kU32,
                               DType::kI64, DType::kU64};

template <typename T>
std::vector<T> Bounds() {
  using Limits = std::numeric_limits<T>;
  return {0,
          1,
          2,
          3,
          7,
          8,
          9,
          31,
          40,
          63,
          64,
          100,
          static_cast<T>(-1),
          static_cast<T>(-2),
          static_cast<T>(-7),
          Limits::min(),
          static_cast<T>(Limits::min() + 1),
          Limits::max(),
          static_cast<T>(Limits::max() - 1),
          static_cast<T>(Limits::max() / 3)};
}

struct Pairs {
  HostTensor a;
  HostTensor b;
};

// Every pair of bounds; their number is odd.
Pairs PairsOf(DType of_a, DType of_b) {
  std::vector<std::pair<size_t, size_t>> places;
  const size_t count = Bounds<int64_t>().size();
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) places.push_back({i, j});
  }
  places.push_back({3, 4});
  const Shape dims = {static_cast<int64_t>(places.size())};
  Pairs pairs{HostTensor({of_a, dims, {}}), HostTensor({of_b, dims, {}})};
  const auto fill = [&](HostTensor& tensor, bool second) {
    VisitDType(tensor.type().dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        const std::vector<T> bounds = Bounds<T>();
        T* to = reinterpret_cast<T*>(tensor.bytes());
        for (const auto& [i, j] : places) *to++ = bounds[second ? j : i];
      }
    });
  };
  fill(pairs.a, /*second=*/false);
  fill(pairs.b, /*second=*/true);
  return pairs;
}

// The op of two operands has eval's bits.
void ExpectExact(const OpDef& op, DType of_a, DType of_b,
                 Attributes attributes = {}) {
  SCOPED_TRACE(std::string(DTypeName(of_a)) + " " +
               std::string(DTypeName(of_b)));
  const Pairs pairs = PairsOf(of_a, of_b);
  const OneNode node(op, {pairs.a.type(), pairs.b.type()},
                     std::move(attributes));
  KernelCheckOptions options;
  options.units = 1e-9;
  options.operands = {&pairs.a, &pairs.b};
  ExpectRight(node.node(), options);
}

TEST(CodegenIntegers, QuotientsAndRemaindersAreDefinedForEveryDivisor) {
  for (DType dtype : kIntegers) {
    ExpectExact(kDiv, dtype, dtype);
    ExpectExact(kMod, dtype, dtype);
    ExpectExact(kMod, dtype, dtype, {{"fmod", true}});
  }
}

TEST(CodegenIntegers, ShiftsByAllBitsAndMoreGiveZero) {
  for (DType dtype : {DType::kU8, DType::kU16, DType::kU32, DType::kU64}) {
    ExpectExact(kBitShift, dtype, dtype);
    ExpectExact(kBitShift, dtype, dtype, {{"left", false}});
  }
}

// Also of two types: if one has a sign, both are signed numbers of 64 bits.
TEST(CodegenIntegers, PowersWrapAndInversesAreWhole) {
  for (DType of_a : kIntegers) {
    for (DType of_b :
         {of_a, DType::kI8, DType::kU8, DType::kI64, DType::kU64}) {
      ExpectExact(kPow, of_a, of_b);
    }
  }
}

TEST(CodegenIntegers, SumsProductsAndSignsWrap) {
  for (DType dtype : kIntegers) {
    for (const OpDef* op : {&kAdd, &kSub, &kMul, &kMin, &kMax, &kPrelu, &kLess,
                            &kLessEqual, &kEqual}) {
      ExpectExact(*op, dtype, dtype);
    }
  }
}

TEST(CodegenIntegers, FunctionsOfOneNumberWrap) {
  for (DType dtype : kIntegers) {
    const Pairs pairs = PairsOf(dtype, dtype);
    KernelCheckOptions options;
    options.units = 1e-9;
    options.operands = {&pairs.a};
    for (const OpDef* op : {&kNeg, &kAbs, &kSign, &kRelu, &kBitwiseNot}) {
      ExpectRight(OneNode(*op, {pairs.a.type()}).node(), options);
    }
    for (const auto& [min, max] :
         {std::pair{-3.5, 7.5}, {8.0, 2.0}, {-1e30, 1e30}, {200.25, 1e9}}) {
      const OneNode clip(kClip, {pairs.a.type()}, {{"min", min}, {"max", max}});
      ExpectRight(clip.node(), options);
    }
  }
}

TEST(CodegenIntegers, CastsWrapOrClamp) {
  for (DType from : kIntegers) {
    const Pairs pairs = PairsOf(from, from);
    KernelCheckOptions options;
    options.units = 1e-9;
    options.operands = {&pairs.a};
    for (int to = 0; to < kNumDTypes; ++to) {
      const OneNode cast(kCast, {pairs.a.type()},
                         {{"to", static_cast<DType>(to)}});
      ExpectRight(cast.node(), options);
    }
  }
}

TEST(CodegenIntegers, FloatsAreTruncatedAndClamped) {
  const std::vector<double> values = {
      0,     -0.0,   0.9,    -0.9,     1.5,          -1.5,    127.9,
      128,   -128.9, -129,   255.9,    256,          32767.9, -32768.9,
      65536, 2e9,    -2.2e9, 4.2e9,    4294967295.0, 4.3e9,   9e18,
      -1e19, 1.8e19, 1.9e19, INFINITY, -INFINITY,    NAN,     1e-320,
      3e38,  -3e38,  1e300};
  const Shape dims = {static_cast<int64_t>(values.size())};
  const HostTensor doubles = HostTensor::Of<double>(dims, values);
  std::vector<float> narrowed(values.begin(), values.end());
  const HostTensor singles = HostTensor::Of<float>(dims, narrowed);
  for (const HostTensor* x : {&doubles, &singles}) {
    KernelCheckOptions options;
    options.units = 1e-9;
    options.operands = {x};
    for (DType to : kIntegers) {
      const OneNode cast(kCast, {x->type()}, {{"to", to}});
      ExpectRight(cast.node(), options);
    }
  }
}

// The exponents of f32 differ by 277 at most.
TEST(CodegenIntegers, RemaindersOfFloatsAreExact) {
  std::vector<float> a, b;
  const std::vector<float> values = {
      0.0f,     -0.0f,    1,      -1,        0.1f, 3.4e38f,
      -3.4e38f, 1e-45f,   3e-45f, 0x1p-126f, 7.5f, -2.5f,
      1e10f,    16777215, 0.3f,   INFINITY,  NAN};
  for (float x : values) {
    for (float y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const Shape dims = {static_cast<int64_t>(a.size())};
  const HostTensor x = HostTensor::Of<float>(dims, a);
  const HostTensor y = HostTensor::Of<float>(dims, b);
  KernelCheckOptions options;
  options.units = 1;
  options.operands = {&x, &y};
  for (bool fmod : {false, true}) {
    const OneNode node(kMod, {x.type(), y.type()}, {{"fmod", fmod}});
    ExpectRight(node.node(), options);
  }
}

}  // namespace
}  // namespace partita
