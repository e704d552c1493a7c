// Functions in f64, and casts of f64 and of integers that f32 would round.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/codegen/interpret.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/testing/generated_kernels.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

// Doubles on a coarse grid over all bit patterns, and ordinary ones.
std::vector<double> AllDoubles() {
  std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1};
  constexpr uint64_t kStep = 0x7fedcba9876543;  // a thousand and a few steps
  for (uint64_t bits = 1; bits < (uint64_t{1} << 63); bits += kStep) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
    values.push_back(-value);
  }
  for (int i = -2000; i <= 2000; ++i) values.push_back(i * 0.051);
  return values;
}

// By the interpreter, in units in the last place of the correct result.
double LargestErrorInF64(const OpDef& op, std::vector<double> x,
                         const char* isa) {
  const int64_t count = static_cast<int64_t>(x.size());
  const OneNode node(op, {{DType::kF64, {count}, {}}});
  const auto program = ReadProgram(node.node(), isa);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return INFINITY;
  std::vector<double> y(x.size());
  void* from = x.data();
  void* to = y.data();
  std::vector<uint64_t> registers;
  Interpret(*program, &from, &to, 0, count, registers);
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = op.scalar->on_double({&x[i], 1}, node.node());
    if (std::isnan(want) ? std::isnan(y[i]) : y[i] == want) continue;
    const double magnitude = std::abs(want);
    const double unit =
        std::max(std::nextafter(magnitude, INFINITY) - magnitude, 0x1p-1070);
    const double error = std::abs(y[i] - want) / unit;
    EXPECT_LT(error, 16) << op.name << "(" << x[i] << "): " << y[i] << ", not "
                         << want;
    if (!(error < 16)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

TEST(CodegenDoubles, FunctionsInF64AreWithinAFewUnitsToo) {
  const std::vector<double> x = AllDoubles();
  for (const OpDef* op :
       {&kExp, &kLog, &kTanh, &kSigmoid, &kSoftplus, &kSilu, &kElu, &kMish,
        &kSinh, &kCosh, &kAsinh, &kAcosh, &kAtanh, &kAsin, &kAcos, &kAtan}) {
    for (const char* isa : {"sse4", "avx2"}) {
      EXPECT_LT(LargestErrorInF64(*op, x, isa), 8) << op->name << " " << isa;
    }
  }
}

// With and without fused multiply-add.
TEST(CodegenDoubles, PowersAreThoseOfTheStandardLibrary) {
  const double numbers[] = {
      0,         -0.0,   1,       -1,    2,
      -2,        0.3,    -0.3,    0.5,   0.95,
      0.999,     1e-310, -1e-310, 1e300, 3,
      -3,        1000,   1000.5,  -740,  INFINITY,
      -INFINITY, NAN,    1e20,    4097,  1.0000000000000002};
  std::vector<double> a, b;
  for (double x : numbers) {
    for (double y : numbers) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const TensorType type = {DType::kF64, {static_cast<int64_t>(a.size())}, {}};
  const OneNode node(kPow, {type, type});
  for (const char* isa : {"sse4", "avx2"}) {
    const auto program = ReadProgram(node.node(), isa);
    ASSERT_TRUE(program.ok()) << program.status();
    std::vector<double> z(a.size());
    void* from[] = {a.data(), b.data()};
    void* to = z.data();
    std::vector<uint64_t> registers;
    Interpret(*program, from, &to, 0, type.num_elements(), registers);
    for (size_t i = 0; i < z.size(); ++i) {
      const double want = std::pow(a[i], b[i]);
      if (std::isnan(want) ? std::isnan(z[i]) : z[i] == want) continue;
      const double magnitude = std::abs(want);
      const double unit =
          std::max(std::nextafter(magnitude, INFINITY) - magnitude, 0x1p-1070);
      EXPECT_LT(std::abs(z[i] - want) / unit, 16)
          << isa << ": " << a[i] << " to the power of " << b[i] << " is "
          << z[i] << ", not " << want;
    }
  }
}

KernelCheckOptions ExactlyOf(const HostTensor& operand) {
  KernelCheckOptions options;
  options.units = 1e-9;
  options.operands = {&operand};
  return options;
}

// The midpoints between finite numbers of a 16-bit type.
std::vector<double> MidpointsOf(DType half) {
  HostTensor all({half, {1 << 16}, {}});
  for (int bits = 0; bits < 1 << 16; ++bits) {
    all.data<uint16_t>()[bits] = static_cast<uint16_t>(bits);
  }
  std::vector<double> middles;
  for (int bits = 0; bits + 1 < 1 << 16; ++bits) {
    const double middle =
        (GetAsDouble(all, bits) + GetAsDouble(all, bits + 1)) / 2;
    if (std::isfinite(middle)) middles.push_back(middle);
  }
  return middles;
}

// Doubles beside the midpoints of a 16-bit type, nearer to them than any f32.
TEST(CodegenDoubles, DoublesAreCastToHalvesRoundedOnce) {
  for (const DType half : {DType::kBF16, DType::kF16}) {
    std::vector<double> values = {1e-320, 1e300, -1e300, 65519.99999999999};
    for (double value : MidpointsOf(half)) {
      values.push_back(value);
      values.push_back(std::nextafter(value, -INFINITY));
      values.push_back(std::nextafter(value, INFINITY));
    }
    const HostTensor doubles =
        HostTensor::Of<double>({static_cast<int64_t>(values.size())}, values);
    OneNode cast(kCast, {doubles.type()}, {{"to", half}});
    ExpectRight(cast.node(), ExactlyOf(doubles));
  }
}

// Midpoints of bf16 with a bit beyond f32; beyond 2^53 an f64 loses it.
TEST(CodegenDoubles, IntegersAreCastToBf16RoundedOnce) {
  std::vector<int64_t> wide;
  for (int shift = 8; shift < 63; ++shift) {
    const int64_t one = int64_t{1} << shift;
    for (int64_t middle : {one + (one >> 8), one + 3 * (one >> 8)}) {
      for (int64_t near : {middle - 1, middle, middle + 1}) {
        wide.push_back(near);
        wide.push_back(-near);
      }
    }
  }
  const Shape dims = {static_cast<int64_t>(wide.size())};
  for (DType from :
       {DType::kI64, DType::kU64, DType::kI32, DType::kU32, DType::kI16}) {
    HostTensor integers({from, dims, {}});
    VisitDType(from, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (size_t i = 0; i < wide.size(); ++i) {
        reinterpret_cast<T*>(integers.bytes())[i] = static_cast<T>(wide[i]);
      }
    });
    OneNode cast(kCast, {integers.type()}, {{"to", DType::kBF16}});
    ExpectRight(cast.node(), ExactlyOf(integers));
  }
}

}  // namespace
}  // namespace partita
