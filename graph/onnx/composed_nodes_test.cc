// Nodes that become several ops: exact messages of refusals, and values that
// need no recording.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Proto = onnx::TensorProto;
using Dims = std::vector<int64_t>;

SketchedModel Floats(int opset, const std::vector<Dims>& inputs) {
  SketchedModel model(opset);
  for (size_t i = 0; i < inputs.size(); ++i) {
    model.Input(std::string(1, static_cast<char>('a' + i)), Proto::FLOAT,
                inputs[i]);
  }
  return model;
}

std::vector<HostTensor> One(HostTensor tensor) {
  std::vector<HostTensor> list;
  list.push_back(std::move(tensor));
  return list;
}

std::string Einsum(const std::string& equation, const std::vector<Dims>& dims) {
  std::vector<std::string> names;
  for (size_t i = 0; i < dims.size(); ++i) {
    names.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  return Floats(12, dims)
      .Node("Einsum", names, {"y"})
      .Attr("equation", equation)
      .Output("y")
      .Run();
}

TEST(ComposedNodes, EquationsThatContradictTheirOperandsAreRefused) {
  EXPECT_EQ(Einsum("ij,jk->ik", {{2, 3}, {4, 5}}),
            "Einsum (node n): found extent 4 for j in input 1; expected 3, as "
            "elsewhere");
  EXPECT_EQ(Einsum("ii->i", {{1, 3}}),
            "Einsum (node n): found extent 3 for i in input 0; expected 1, as "
            "elsewhere");
  EXPECT_EQ(Einsum("...i,...i->...", {{2, 4}, {3, 4}}),
            "Einsum (node n): found extent 3 for dimension -1 of \"...\" in "
            "input 1; expected 2, as elsewhere");
  EXPECT_EQ(Einsum("ijk->i", {{2, 3}}),
            "Einsum (node n): found equation term \"ijk\" for input 0 of rank "
            "2; expected a letter for each dimension");
  EXPECT_EQ(Einsum("ij->ijj", {{2, 3}}),
            "Einsum (node n): found equation result \"ijj\"; expected letters "
            "of the operands, each at most once");
  EXPECT_EQ(Einsum("ij->ik", {{2, 3}}),
            "Einsum (node n): found equation result \"ik\"; expected letters "
            "of the operands, each at most once");
  EXPECT_EQ(Einsum("...j->j", {{2, 3}}),
            "Einsum (node n): found equation result \"j\"; expected the "
            "\"...\" of the operands, too");
  EXPECT_EQ(Einsum("ij,jk->ik", {{2, 3}}),
            "Einsum (node n): found equation \"ij,jk->ik\"; expected a term "
            "for each of 1 inputs and at most one result");
  EXPECT_EQ(Einsum("i1->i", {{2, 3}}),
            "Einsum (node n): found equation term \"i1\"; expected letters and "
            "at most one \"...\"");
}

std::string Loss(const Dims& labels, const Dims& weights,
                 const std::string& reduction) {
  return SketchedModel(13)
      .Input("x", Proto::FLOAT, {2, 3, 4})
      .Input("t", Proto::INT64, labels)
      .Input("w", Proto::FLOAT, weights)
      .Node("NegativeLogLikelihoodLoss", {"x", "t", "w"}, {"y"})
      .Attr("reduction", reduction)
      .Output("y")
      .Run();
}

TEST(ComposedNodes, LabelsAreThoseOfTheScores) {
  EXPECT_EQ(Loss({2, 3}, {3}, "mean"),
            "NegativeLogLikelihoodLoss (node n): found labels i64[2, 3]; "
            "expected the extents of the scores f32[2, 3, 4] without dimension "
            "1");
  EXPECT_EQ(Loss({2, 4}, {4}, "mean"),
            "NegativeLogLikelihoodLoss (node n): found weights f32[4]; "
            "expected 3, one per class");
  EXPECT_EQ(Loss({2, 4}, {3}, "max"),
            "NegativeLogLikelihoodLoss (node n): found reduction \"max\"; "
            "expected none, sum, mean");
}

TEST(ComposedNodes, LabelsThatAreNoClassAreAnError) {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({1, 2}, {1, 2}));
  inputs.push_back(HostTensor::Of<int64_t>({1}, {-1}));
  const std::string message =
      Floats(13, {{1, 2}})
          .Input("t", Proto::INT64, {1})
          .Node("NegativeLogLikelihoodLoss", {"a", "t"}, {"y"})
          .Output("y")
          .Run(inputs);
  EXPECT_TRUE(absl::StrContains(message, "found index -1")) << message;
}

TEST(ComposedNodes, GridsFitWhatTheySample) {
  const auto sample = [](const Dims& x, const Dims& grid, int opset,
                         const std::string& mode) {
    return Floats(opset, {x, grid})
        .Node("GridSample", {"a", "b"}, {"y"})
        .Attr("mode", mode)
        .Output("y")
        .Run();
  };
  EXPECT_EQ(sample({1, 2, 3, 4}, {1, 5, 5, 3}, 20, "linear"),
            "GridSample (node n): n: grid_sample of %a: found operand 1 %b: "
            "f32[1, 5, 5, 3]; expected 1 in dimension 0 and 2 in the last one; "
            "give each position of the result a coordinate per spatial "
            "dimension");
  EXPECT_EQ(sample({1, 2, 3, 4}, {1, 5, 5, 2}, 20, "bilinear"),
            "GridSample (node n): found mode \"bilinear\"; expected linear, "
            "nearest, cubic");
  EXPECT_EQ(sample({1, 2, 3, 4}, {1, 5, 5, 2}, 16, "linear"),
            "GridSample (node n): found mode \"linear\"; expected bilinear, "
            "nearest, bicubic");
}

// NaN is outside, and so are infinities.
TEST(ComposedNodes, PositionsThatAreNoNumbersAreOutside) {
  const float nan = std::nanf("");
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({1, 1, 1, 2}, {3, 5}));
  inputs.push_back(HostTensor::Of<float>(
      {1, 1, 4, 2}, {nan, 0, INFINITY, 0, -INFINITY, 0, 0.5, 0}));
  EXPECT_EQ(Floats(20, {{1, 1, 1, 2}, {1, 1, 4, 2}})
                .Node("GridSample", {"a", "b"}, {"y"})
                .Output("y")
                .Run(inputs),
            "f32[1, 1, 1, 4] 0 0 0 5");
}

SketchedModel Resize(int type, const Dims& dims, float scale) {
  SketchedModel model(19);
  return model.Input("a", type, dims)
      .Constant("scales", Proto::FLOAT,
                HostTensor::Of<float>({4}, {1, 1, 1, scale}))
      .Constant("roi", Proto::FLOAT,
                HostTensor::Of<float>({8}, {0, 0, 0, 0.25, 1, 1, 1, 1}))
      .Node("Resize", {"a", "roi", "scales"}, {"y"})
      .Output("y");
}

// The result has three elements, and its last one is the part's end. By ONNX
// Runtime 1.32.
TEST(ComposedNodes, APartIsResizedToAWholeNumberOfElements) {
  const auto part = [](const std::string& mode) {
    std::vector<HostTensor> inputs;
    inputs.push_back(HostTensor::Of<float>({1, 1, 1, 5}, {0, 1, 4, 9, 16}));
    return Resize(Proto::FLOAT, {1, 1, 1, 5}, 0.7f)
        .Attr("mode", mode)
        .Attr("coordinate_transformation_mode",
              std::string("tf_crop_and_resize"))
        .Run(inputs);
  };
  EXPECT_EQ(part("linear"), "f32[1, 1, 1, 3] 1 6.5 16");
  EXPECT_EQ(part("nearest"), "f32[1, 1, 1, 3] 1 4 16");
}

// Two thirds from 60 to 105 are 90, which rounding puts below it.
TEST(ComposedNodes, BlendsOfIntegersAreNotTruncatedBelowAWholeNumber) {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<uint8_t>({1, 1, 1, 2}, {60, 105}));
  EXPECT_EQ(
      Resize(Proto::UINT8, {1, 1, 1, 2}, 3)
          .Attr("mode", std::string("linear"))
          .Attr("coordinate_transformation_mode", std::string("asymmetric"))
          .Run(inputs),
      "u8[1, 1, 1, 6] 60 75 90 105 105 105");
}

SketchedModel Dft(int64_t length, bool onesided) {
  return Floats(20, {{1, length, 1}})
      .Ints("axis", {1}, /*scalar=*/true)
      .Node("DFT", {"a", "", "axis"}, {"y"})
      .Attr("onesided", int64_t{onesided})
      .Output("y");
}

// A cosine of 5 periods, plus half of a constant.
void ExpectTwoPeaks(int64_t length, bool onesided) {
  HostTensor x(TensorType{DType::kF32, {1, length, 1}, {}});
  for (int64_t i = 0; i < length; ++i) {
    const double periods =
        5.0 * static_cast<double>(i) / static_cast<double>(length);
    SetFromDouble(x, i, 0.5 + std::cos(2 * std::numbers::pi * periods));
  }
  auto module = Dft(length, onesided).Import();
  ASSERT_TRUE(module.ok()) << module.status();
  const auto y = Evaluate(module->main(), One(std::move(x)));
  ASSERT_TRUE(y.ok()) << y.status();
  const int64_t count = onesided ? length / 2 + 1 : length;
  ASSERT_EQ((*y)[0].type().dims, (Shape{1, count, 2}));
  for (int64_t k = 0; k < count; ++k) {
    const bool peak = k == 0 || k == 5 || k == length - 5;
    const double expected = peak ? static_cast<double>(length) / 2 : 0;
    EXPECT_NEAR(GetAsDouble((*y)[0], 2 * k), expected, 1e-3 * length) << k;
    EXPECT_NEAR(GetAsDouble((*y)[0], 2 * k + 1), 0, 1e-3 * length) << k;
  }
}

TEST(ComposedNodes, LongTransformsGoBySteps) {
  ExpectTwoPeaks(4096, /*onesided=*/true);
  ExpectTwoPeaks(3000, /*onesided=*/false);
  ExpectTwoPeaks(2 * 2 * 1021, /*onesided=*/false);
  EXPECT_EQ(Dft(4099, /*onesided=*/false).Run(),
            "DFT (node n): found a transform of length 4099; expected one of "
            "up to 2048, or up to 4194304 with divisors of up to 1024");
}

// 163 bytes that require a table of 5 GB.
TEST(ComposedNodes, TransformsOfAnyLengthAreRefusedBeforeTheyAreMade) {
  EXPECT_EQ(SketchedModel(20)
                .Input("x", Proto::FLOAT, {2, 8, 3, 1})
                .Ints("n", {336592906}, /*scalar=*/true)
                .Node("DFT", {"x", "n"}, {"y"})
                .Output("y")
                .Run(),
            "DFT (node n): found a transform of length 336592906; expected one "
            "of up to 2048, or up to 4194304 with divisors of up to 1024");
}

// As in ONNX Runtime.
TEST(ComposedNodes, TheGreatestOfARegionThatEndsBeforeItBegins) {
  EXPECT_EQ(SketchedModel(16)
                .Constant("x", Proto::FLOAT,
                          HostTensor::Of<float>({1, 1, 2, 2}, {1, 2, 3, 4}))
                .Constant("rois", Proto::FLOAT,
                          HostTensor::Of<float>({1, 4}, {1.8, 1.8, 0.2, 0.2}))
                .Ints("images", {0})
                .Node("RoiAlign", {"x", "rois", "images"}, {"y"})
                .Attr("mode", "max")
                .Output("y")
                .Run(),
            "f32[1, 1, 1, 1] 0");
}

TEST(ComposedNodes, TransformsSayWhatTheyTake) {
  EXPECT_EQ(Floats(20, {{1, 8, 2}})
                .Node("DFT", {"a"}, {"y"})
                .Attr("onesided", int64_t{1})
                .Output("y")
                .Run(),
            "DFT (node n): found onesided = 1 of f32[1, 8, 2]; expected real "
            "numbers");
  EXPECT_EQ(Floats(20, {{1, 8, 3}}).Node("DFT", {"a"}, {"y"}).Output("y").Run(),
            "DFT (node n): found f32[1, 8, 3]; expected a last dimension of 1, "
            "or of 2 for complex numbers");
  EXPECT_EQ(Floats(17, {{1, 8, 1}})
                .Ints("step", {0}, true)
                .Node("STFT", {"a", "step"}, {"y"})
                .Output("y")
                .Run(),
            "STFT (node n): found frame_step 0; expected one of 1..1073741824");
  EXPECT_EQ(Floats(17, {{1, 8, 1}})
                .Ints("step", {2}, true)
                .Ints("length", {9}, true)
                .Node("STFT", {"a", "step", "", "length"}, {"y"})
                .Output("y")
                .Run(),
            "STFT (node n): found frames of 9; expected 1..8, the length of "
            "the signal");
}

TEST(ComposedNodes, ExtentsThatDataDecideAreRefusedByName) {
  const auto refused = [](const std::string& op) {
    return Floats(13, {{2, 3}}).Node(op, {"a"}, {"y"}).Output("y").Run();
  };
  const std::string why =
      " (node n): found the elements that depends on data (input a); expected "
      "the elements that is known at compile time; give the value of input a";
  EXPECT_TRUE(absl::StartsWith(refused("NonZero"), "NonZero" + why))
      << refused("NonZero");
  EXPECT_TRUE(absl::StartsWith(refused("Unique"), "Unique" + why));
}

TEST(ComposedNodes, WindowsFitTheirImages) {
  EXPECT_EQ(Floats(18, {{1, 4, 9}})
                .Ints("image", {4, 5})
                .Ints("block", {2, 2})
                .Node("Col2Im", {"a", "image", "block"}, {"y"})
                .Output("y")
                .Run(),
            "Col2Im (node n): found 9 blocks; expected [3, 4] of them, as the "
            "image has");
  EXPECT_EQ(Floats(18, {{1, 5, 12}})
                .Ints("image", {4, 5})
                .Ints("block", {2, 2})
                .Node("Col2Im", {"a", "image", "block"}, {"y"})
                .Output("y")
                .Run(),
            "Col2Im (node n): found f32[1, 5, 12] for blocks of [2, 2]; "
            "expected whole blocks of at most 4096 elements in dimension 1");
  EXPECT_EQ(Floats(11, {{1, 1, 2, 2}})
                .Input("i", Proto::INT64, {1, 1, 2, 2})
                .Ints("shape", {1, 1, 3, 4})
                .Node("MaxUnpool", {"a", "i", "shape"}, {"y"})
                .Attr("kernel_shape", Dims{2, 2})
                .Attr("strides", Dims{2, 2})
                .Output("y")
                .Run(),
            "MaxUnpool (node n): found output_shape [1, 1, 3, 4]; expected [1, "
            "1, 4, 4] or more in spatial dimensions");
}

// About a quarter is dropped, kept elements are scaled, and the mask says
// which.
TEST(ComposedNodes, DropoutOfTrainingDropsItsShare) {
  constexpr int64_t kCount = 4096;
  const auto run = [](int64_t seed) {
    auto module =
        Floats(13, {{kCount}})
            .Constant("r", Proto::FLOAT, HostTensor::Of<float>({}, {0.25}))
            .Constant("t", Proto::BOOL, HostTensor::Of<bool>({}, {true}))
            .Node("Dropout", {"a", "r", "t"}, {"y", "m"})
            .Attr("seed", seed)
            .Output("y")
            .Output("m")
            .Import();
    EXPECT_TRUE(module.ok()) << module.status();
    auto y = Evaluate(
        module->main(),
        One(HostTensor::Of<float>({kCount}, std::vector<float>(kCount, 3))));
    EXPECT_TRUE(y.ok()) << y.status();
    return *std::move(y);
  };
  const std::vector<HostTensor> first = run(1);
  int64_t kept = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const bool mask = GetAsDouble(first[1], i) != 0;
    kept += mask;
    ASSERT_EQ(GetAsDouble(first[0], i), mask ? 4 : 0) << i;
  }
  EXPECT_NEAR(static_cast<double>(kept) / kCount, 0.75, 0.03);
  EXPECT_EQ(run(1)[1].byte_span(), first[1].byte_span());
  EXPECT_NE(run(2)[1].byte_span(), first[1].byte_span());
}

TEST(ComposedNodes, AxesOfAnySizeAreRefused) {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({2, 1}, {1, 2}));
  inputs.push_back(HostTensor::Of<int64_t>({1}, {3}));
  const std::string message =
      Floats(10, {{2, 1}})
          .Input("n", Proto::INT64, {1})
          .Node("ReverseSequence", {"a", "n"}, {"y"})
          .Attr("time_axis", std::numeric_limits<int64_t>::max())
          .Output("y")
          .Run(inputs);
  EXPECT_TRUE(absl::StrContains(message, "expected axes 0 and 1")) << message;
}

TEST(ComposedNodes, ADiagonalFarOutsideHasNoElement) {
  EXPECT_EQ(Floats(9, {{1, 2}})
                .Node("EyeLike", {"a"}, {"y"})
                .Attr("k", std::numeric_limits<int64_t>::max())
                .Output("y")
                .Run(One(HostTensor::Of<float>({1, 2}, {1, 2}))),
            "f32[1, 2] 0 0");
}

// A loop over the rows would not end.
TEST(ComposedNodes, ADiagonalOfNothingTakesNoTime) {
  constexpr int64_t kRows = int64_t{1} << 40;
  EXPECT_EQ(Floats(9, {{kRows, 0}})
                .Node("EyeLike", {"a"}, {"y"})
                .Output("y")
                .Run(One(HostTensor::Of<float>({kRows, 0}, {}))),
            "f32[1099511627776, 0]");
}

TEST(ComposedNodes, ImagesWithoutBoxesTakeNoTime) {
  constexpr int64_t kImages = int64_t{1} << 40;
  EXPECT_EQ(SketchedModel(11)
                .Constant("boxes", Proto::FLOAT,
                          HostTensor::Of<float>({kImages, 0, 4}, {}))
                .Constant("scores", Proto::FLOAT,
                          HostTensor::Of<float>({kImages, 1, 0}, {}))
                .Node("NonMaxSuppression", {"boxes", "scores"}, {"y"})
                .Output("y")
                .Run(),
            "i64[0, 3]");
}

TEST(ComposedNodes, ADiagonalMayStartAtAnyRowOrColumn) {
  const auto eye = [](int64_t k) {
    return Floats(9, {{2, 3}})
        .Node("EyeLike", {"a"}, {"y"})
        .Attr("k", k)
        .Output("y")
        .Run(One(HostTensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  };
  EXPECT_EQ(eye(0), "f32[2, 3] 1 0 0 0 1 0");
  EXPECT_EQ(eye(1), "f32[2, 3] 0 1 0 0 0 1");
  EXPECT_EQ(eye(2), "f32[2, 3] 0 0 1 0 0 0");
  EXPECT_EQ(eye(-1), "f32[2, 3] 0 0 0 1 0 0");
}

// 1 is FLOAT; the codes are 32 bits of an attribute of 64.
TEST(ComposedNodes, TypesAreNotCutToTheirLowerBits) {
  EXPECT_EQ(Floats(13, {{1}})
                .Node("Cast", {"a"}, {"y"})
                .Attr("to", (int64_t{1} << 32) + 1)
                .Output("y")
                .Run(),
            "Cast (node n): found a cast to strings or an unknown type; "
            "expected a cast to numbers or bool");
}

TEST(ComposedNodes, LengthsBeyondASequenceAreAnError) {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({2, 1}, {1, 2}));
  inputs.push_back(HostTensor::Of<int64_t>({1}, {3}));
  const std::string message = Floats(10, {{2, 1}})
                                  .Input("n", Proto::INT64, {1})
                                  .Node("ReverseSequence", {"a", "n"}, {"y"})
                                  .Output("y")
                                  .Run(inputs);
  EXPECT_TRUE(absl::StrContains(message, "found index 2")) << message;
}

}  // namespace
}  // namespace partita
