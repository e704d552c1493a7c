// Elementwise ops, against hand-computed values.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>

#include "graph/ops/op_list.h"
#include "graph/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

template <typename T>
HostTensor Of(const std::vector<T>& values) {
  return HostTensor::Of<T>({static_cast<int64_t>(values.size())}, values);
}
HostTensor Bools(const std::vector<bool>& values) {
  HostTensor tensor({DType::kBool, {static_cast<int64_t>(values.size())}, {}});
  for (size_t i = 0; i < values.size(); ++i) {
    SetFromDouble(tensor, static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

std::string Unary(const OpDef& op, const std::vector<float>& x,
                  const Attributes& attributes = {}) {
  return Show(op, List(Of(x)), attributes);
}
template <typename T>
std::string Binary(const OpDef& op, const std::vector<T>& a,
                   const std::vector<T>& b, const Attributes& attributes = {}) {
  return Show(op, List(Of(a), Of(b)), attributes);
}

double At(const OpDef& op, double x, const Attributes& attributes = {}) {
  const auto y = RunOp(op, List(Of<double>({x})), attributes);
  return y.ok() ? (*y)[0].data<double>()[0] : std::nan("");
}

TEST(EvalScalarTest, RoundsHalfToEven) {
  EXPECT_EQ(Unary(kRound, {0.5, 1.5, 2.5, -0.5, -1.5, 0.49}),
            "f32[6] 0 2 2 -0 -2 0");
  EXPECT_EQ(Unary(kFloor, {0.5, -0.5}), "f32[2] 0 -1");
  EXPECT_EQ(Unary(kCeil, {0.5, -0.5}), "f32[2] 1 -0");
}

TEST(EvalScalarTest, ActivationsFollowTheirFormulas) {
  EXPECT_EQ(Unary(kRelu, {-1, 0, 2, kNan}), "f32[4] 0 0 2 nan");
  EXPECT_EQ(Unary(kLeakyRelu, {-2, 3}, {{"alpha", 0.5}}), "f32[2] -1 3");
  EXPECT_EQ(Unary(kHardSigmoid, {-5, 0, 1, 5}), "f32[4] 0 0.5 0.7 1");
  EXPECT_EQ(Unary(kHardSwish, {-4, 0, 3, 6}), "f32[4] -0 0 3 6");
  EXPECT_EQ(Unary(kThresholdedRelu, {0.5, 1, 2}), "f32[3] 0 0 2");
  EXPECT_EQ(Unary(kShrink, {-2, 0.2, 2}, {{"bias", 1.5}}), "f32[3] -0.5 0 0.5");
  EXPECT_EQ(Unary(kClip, {-9, 1, 9}, {{"min", -1.0}, {"max", 6.0}}),
            "f32[3] -1 1 6");
  EXPECT_EQ(Unary(kClip, {-9, kNan, 9}), "f32[3] -9 nan 9");
  EXPECT_EQ(Unary(kSoftsign, {-1, 3}), "f32[2] -0.5 0.75");
  EXPECT_NEAR(At(kSigmoid, 2), 1 / (1 + std::exp(-2.0)), 1e-15);
  EXPECT_NEAR(At(kSilu, 2), 2 / (1 + std::exp(-2.0)), 1e-15);
  EXPECT_NEAR(At(kSoftplus, 800), 800, 0);
  EXPECT_NEAR(At(kMish, 1), std::tanh(std::log(1 + std::exp(1.0))), 1e-15);
  EXPECT_NEAR(At(kGelu, 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(At(kGelu, 1, {{"tanh", true}}), 0.8411919906082768, 1e-12);
  EXPECT_NEAR(At(kGeluSlope, 1), 0.8413447460685429 + 0.24197072451914337,
              1e-15);
  EXPECT_NEAR(At(kElu, -1, {{"alpha", 2.0}}), 2 * (std::exp(-1.0) - 1), 1e-15);
  EXPECT_NEAR(At(kCelu, -1, {{"alpha", 2.0}}), 2 * (std::exp(-0.5) - 1), 1e-15);
  EXPECT_NEAR(At(kSelu, 1), 1.0507009873554805, 1e-7);
}

TEST(EvalScalarTest, FunctionsAreWhatTheirNamesSay) {
  EXPECT_EQ(At(kExp, 1), std::exp(1.0));
  EXPECT_EQ(At(kLog, 2), std::log(2.0));
  EXPECT_EQ(At(kSqrt, 2), std::sqrt(2.0));
  EXPECT_EQ(At(kSin, 1), std::sin(1.0));
  EXPECT_EQ(At(kCos, 1), std::cos(1.0));
  EXPECT_EQ(At(kTan, 1), std::tan(1.0));
  EXPECT_EQ(At(kAsin, .5), std::asin(.5));
  EXPECT_EQ(At(kAcos, .5), std::acos(.5));
  EXPECT_EQ(At(kAtan, .5), std::atan(.5));
  EXPECT_EQ(At(kSinh, 1), std::sinh(1.0));
  EXPECT_EQ(At(kCosh, 1), std::cosh(1.0));
  EXPECT_EQ(At(kTanh, 1), std::tanh(1.0));
  EXPECT_EQ(At(kAsinh, 1), std::asinh(1.0));
  EXPECT_DOUBLE_EQ(At(kAcosh, 2), std::acosh(2.0));
  EXPECT_DOUBLE_EQ(At(kAtanh, .5), std::atanh(.5));
  EXPECT_EQ(At(kErf, .5), std::erf(.5));
  EXPECT_EQ(At(kReciprocal, 4), .25);
  EXPECT_EQ(At(kNeg, 4), -4);
  EXPECT_EQ(At(kAbs, -4), 4);
  EXPECT_EQ(At(kSign, -4), -1);
}

TEST(EvalScalarTest, TestsGiveBools) {
  EXPECT_EQ(Unary(kIsNan, {1, kNan, kInf}), "bool[3] 0 1 0");
  EXPECT_EQ(Unary(kIsInf, {1, -kInf, kInf, kNan}), "bool[4] 0 1 1 0");
  EXPECT_EQ(Unary(kIsInf, {-kInf, kInf}, {{"negative", false}}), "bool[2] 0 1");
  EXPECT_EQ(Binary<float>(kLess, {1, 2, kNan}, {2, 2, 2}), "bool[3] 1 0 0");
  EXPECT_EQ(Binary<float>(kGreaterEqual, {1, 2, kNan}, {2, 2, 2}),
            "bool[3] 0 1 0");
  EXPECT_EQ(Binary<int64_t>(kEqual, {1, INT64_MAX}, {2, INT64_MAX}),
            "bool[2] 0 1");
  EXPECT_EQ(Show(kEqual, List(Bools({true, false}), Bools({true, true}))),
            "bool[2] 1 0");
  EXPECT_EQ(Show(kXor, List(Bools({true, false}), Bools({true, true}))),
            "bool[2] 0 1");
  EXPECT_EQ(Show(kNot, List(Bools({true, false}))), "bool[2] 0 1");
}

TEST(EvalScalarTest, IntegersAreExactAndWrap) {
  EXPECT_EQ(Binary<int8_t>(kAdd, {127, 5}, {1, 6}), "i8[2] -128 11");
  EXPECT_EQ(Binary<int64_t>(kMul, {INT64_MAX, 3}, {2, 3}), "i64[2] -2 9");
  EXPECT_EQ(Binary<uint8_t>(kSub, {1}, {2}), "u8[1] 255");
  EXPECT_EQ(Show(kAbs, List(Of<int8_t>({-128, -5}))), "i8[2] -128 5");
  EXPECT_EQ(Show(kNeg, List(Of<int64_t>({INT64_MIN}))),
            "i64[1] -9223372036854775808");
  EXPECT_EQ(Binary<int32_t>(kDiv, {7, -7, 7, INT32_MIN}, {2, 2, 0, -1}),
            "i32[4] 3 -3 0 -2147483648");
  EXPECT_EQ(Binary<uint64_t>(kAdd, {UINT64_MAX - 1}, {1}),
            "u64[1] 18446744073709551615");
}

TEST(EvalScalarTest, FmodDecidesTheSignOfRemainders) {
  EXPECT_EQ(Binary<int32_t>(kMod, {-7, 7, -7, 7}, {3, -3, -3, 0}),
            "i32[4] 2 -2 -1 0");
  EXPECT_EQ(Binary<int32_t>(kMod, {-7, 7}, {3, -3}, {{"fmod", true}}),
            "i32[2] -1 1");
  EXPECT_EQ(Binary<float>(kMod, {-7.5, 7.5}, {3, -3}, {{"fmod", true}}),
            "f32[2] -1.5 1.5");
  EXPECT_EQ(Binary<float>(kMod, {-7.5, 7.5}, {3, -3}), "f32[2] 1.5 -1.5");
}

TEST(EvalScalarTest, PowersKeepTheTypeOfTheBase) {
  EXPECT_EQ(Binary<float>(kPow, {2, 0, 4}, {3, 0, 0.5}), "f32[3] 8 1 2");
  EXPECT_EQ(Binary<int32_t>(kPow, {2, -1, 3}, {10, -3, -1}),
            "i32[3] 1024 -1 0");
  EXPECT_EQ(Show(kPow, List(Of<float>({2, 3}), Of<int32_t>({3, 2}))),
            "f32[2] 8 9");
  EXPECT_EQ(Show(kPow, List(Of<int32_t>({2, 9}), Of<float>({3, 0.5}))),
            "i32[2] 8 3");
}

TEST(EvalScalarTest, MaxAndMinPropagateNans) {
  EXPECT_EQ(Binary<float>(kMax, {1, kNan, 3}, {2, 2, kNan}),
            "f32[3] 2 nan nan");
  EXPECT_EQ(Binary<float>(kMin, {1, kNan, 3}, {2, 2, kNan}),
            "f32[3] 1 nan nan");
}

TEST(EvalScalarTest, BitsShiftAndCombine) {
  EXPECT_EQ(Binary<uint8_t>(kBitShift, {129, 1}, {1, 9}), "u8[2] 2 0");
  EXPECT_EQ(Binary<uint8_t>(kBitShift, {129, 1}, {1, 64}, {{"left", false}}),
            "u8[2] 64 0");
  EXPECT_EQ(Binary<int32_t>(kBitwiseAnd, {-1, 12}, {5, 10}), "i32[2] 5 8");
  EXPECT_EQ(Binary<int32_t>(kBitwiseOr, {1, 12}, {4, 10}), "i32[2] 5 14");
  EXPECT_EQ(Binary<int32_t>(kBitwiseXor, {1, 12}, {4, 10}), "i32[2] 5 6");
  EXPECT_EQ(Show(kBitwiseNot, List(Of<uint8_t>({0, 254}))), "u8[2] 255 1");
}

TEST(EvalScalarTest, CastsTruncateClampAndWrap) {
  const auto cast = [](HostTensor x, DType to) {
    return Show(kCast, List(std::move(x)), {{"to", to}});
  };
  EXPECT_EQ(cast(Of<float>({-1.7, 1.7, 300, -300, kNan}), DType::kI8),
            "i8[5] -1 1 127 -128 0");
  EXPECT_EQ(cast(Of<float>({1e30, -1e30}), DType::kI64),
            "i64[2] 9223372036854775807 -9223372036854775808");
  EXPECT_EQ(cast(Of<int32_t>({257, -1}), DType::kU8), "u8[2] 1 255");
  EXPECT_EQ(cast(Of<float>({0, 0.25, kNan}), DType::kBool), "bool[3] 0 1 1");
  EXPECT_EQ(cast(Bools({true, false}), DType::kF32), "f32[2] 1 0");
  EXPECT_EQ(cast(Of<float>({65520, 2049}), DType::kF16), "f16[2] inf 2048");
  EXPECT_EQ(cast(Of<int64_t>({INT64_MAX}), DType::kU64),
            "u64[1] 9223372036854775807");
}

TEST(EvalScalarTest, OperandsBroadcast) {
  EXPECT_EQ(Show(kAdd, List(F({2, 1}, {10, 20}), F({3}, {1, 2, 3}))),
            "f32[2, 3] 11 12 13 21 22 23");
  EXPECT_EQ(Show(kSub, List(F({}, {1}), F({2}, {1, 2}))), "f32[2] 0 -1");
  EXPECT_EQ(
      Show(kWhere, List(Bools({true, false}), F({2, 1}, {1, 2}), F({1}, {9}))),
      "f32[2, 2] 1 9 2 9");
  EXPECT_EQ(Show(kPrelu, List(F({2, 2}, {-1, -1, 1, -2}), F({2}, {2, 3}))),
            "f32[2, 2] -2 -3 1 -6");
  EXPECT_EQ(Show(kAdd, List(F({2, 0}, {}), F({1}, {1}))), "f32[2, 0]");
}

// Lines longer than one block.
TEST(EvalScalarTest, LongLinesAreComputedInBlocks) {
  const HostTensor x = Counting({3, 1500});
  const auto y = RunOp(kMul, List(x.Clone(), F({3, 1}, {1, 2, 3})));
  ASSERT_TRUE(y.ok());
  for (int64_t i = 0; i < 4500; ++i) {
    ASSERT_EQ((*y)[0].data<float>()[i], static_cast<float>(i * (1 + i / 1500)));
  }
}

}  // namespace
}  // namespace partita
