// Integers that no double represents keep their values in imported nodes.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>

#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Proto = onnx::TensorProto;

constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // 9007199254740993

std::string Filled(const HostTensor& value, int type) {
  return SketchedModel(13)
      .Ints("shape", {2})
      .Node("ConstantOfShape", {"shape"}, {"y"})
      .Attr("value", value, type)
      .Output("y")
      .Run();
}

TEST(ExactIntegers, ConstantOfShape) {
  const auto filled = [](int64_t value) {
    return Filled(HostTensor::Of<int64_t>({1}, {value}), Proto::INT64);
  };
  EXPECT_EQ(filled(kOdd), "i64[2] 9007199254740993 9007199254740993");
  EXPECT_EQ(filled(INT64_MAX),
            "i64[2] 9223372036854775807 9223372036854775807");
  EXPECT_EQ(filled(INT64_MIN),
            "i64[2] -9223372036854775808 -9223372036854775808");
  EXPECT_EQ(Filled(HostTensor::Of<uint64_t>({1}, {UINT64_MAX}), Proto::UINT64),
            "u64[2] 18446744073709551615 18446744073709551615");
}

std::string Ranged(int64_t start, int64_t limit, int64_t delta) {
  return SketchedModel(13)
      .Ints("start", {start}, true)
      .Ints("limit", {limit}, true)
      .Ints("delta", {delta}, true)
      .Node("Range", {"start", "limit", "delta"}, {"y"})
      .Output("y")
      .Run();
}

TEST(ExactIntegers, Range) {
  EXPECT_EQ(Ranged(kOdd, kOdd + 3, 2),
            "i64[2] 9007199254740993 9007199254740995");
  EXPECT_EQ(Ranged(INT64_MIN, INT64_MAX, INT64_MAX),
            "i64[3] -9223372036854775808 -1 9223372036854775806");
  EXPECT_EQ(Ranged(INT64_MAX, INT64_MIN, INT64_MIN),
            "i64[2] 9223372036854775807 -1");
  EXPECT_EQ(Ranged(5, 5, 1), "i64[0]");
  EXPECT_EQ(Ranged(6, 5, 1), "i64[0]");
  EXPECT_EQ(Ranged(5, 6, -1), "i64[0]");
}

TEST(ExactIntegers, RangesThatNeverEndAreRefused) {
  EXPECT_EQ(Ranged(0, 5, 0),
            "Range (node n): found delta 0; expected a delta that reaches the "
            "limit");
  EXPECT_EQ(Ranged(0, INT64_MAX, 1),
            "Range (node n): found 9.22337e+18 elements from 0 to "
            "9223372036854775807 by 1; expected at most 70368744177664");
  const auto real = [](float limit, float delta) {
    return SketchedModel(13)
        .Constant("start", Proto::FLOAT, HostTensor::Of<float>({}, {0}))
        .Constant("limit", Proto::FLOAT, HostTensor::Of<float>({}, {limit}))
        .Constant("delta", Proto::FLOAT, HostTensor::Of<float>({}, {delta}))
        .Node("Range", {"start", "limit", "delta"}, {"y"})
        .Output("y")
        .Run();
  };
  EXPECT_EQ(real(1, 0.5f), "f32[2] 0 0.5");
  EXPECT_EQ(real(1, NAN),
            "Range (node n): found nan elements from 0 to 1 by nan; expected "
            "at most 70368744177664");
  EXPECT_EQ(real(HUGE_VALF, 1),
            "Range (node n): found inf elements from 0 to inf by 1; expected "
            "at most 70368744177664");
}

TEST(ExactIntegers, Pad) {
  const auto padded = [](int64_t value) {
    std::vector<HostTensor> inputs;
    inputs.push_back(HostTensor::Of<int64_t>({1}, {7}));
    return SketchedModel(13)
        .Input("x", Proto::INT64, {1})
        .Ints("pads", {1, 0})
        .Ints("value", {value}, true)
        .Node("Pad", {"x", "pads", "value"}, {"y"})
        .Output("y")
        .Run(inputs);
  };
  EXPECT_EQ(padded(kOdd), "i64[2] 9007199254740993 7");
  EXPECT_EQ(padded(INT64_MIN), "i64[2] -9223372036854775808 7");
  EXPECT_EQ(padded(INT64_MAX), "i64[2] 9223372036854775807 7");
}

TEST(ExactIntegers, BoundInputs) {
  const auto bound = [](int type, Number value) {
    return SketchedModel(13)
        .Input("x", type, {1})
        .Node("Identity", {"x"}, {"y"})
        .Output("y")
        .Run({}, {.values = {{"x", {value}}}});
  };
  EXPECT_EQ(bound(Proto::INT64, Number(kOdd)), "i64[1] 9007199254740993");
  EXPECT_EQ(bound(Proto::INT64, Number(INT64_MIN)),
            "i64[1] -9223372036854775808");
  EXPECT_EQ(bound(Proto::UINT64, Number(UINT64_MAX)),
            "u64[1] 18446744073709551615");
  EXPECT_EQ(bound(Proto::FLOAT, Number(kOdd)), "f32[1] 9.007199e+15");
  EXPECT_EQ(bound(Proto::INT64, Number(UINT64_MAX)),
            "value of x: found 18446744073709551615; expected numbers of type "
            "i64");
  EXPECT_EQ(bound(Proto::UINT8, Number(256)),
            "value of x: found 256; expected numbers of type u8");
  EXPECT_EQ(bound(Proto::BOOL, Number(0.5)),
            "value of x: found 0.5; expected numbers of type bool");
}

}  // namespace
}  // namespace partita
