// Imported nodes in the standard's corner cases, and exact messages of
// refusals.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Proto = onnx::TensorProto;

std::vector<HostTensor> One(HostTensor tensor) {
  std::vector<HostTensor> list;
  list.push_back(std::move(tensor));
  return list;
}

SketchedModel Gemm(int type, float alpha, float beta) {
  return SketchedModel(13)
      .Input("a", type, {1, 1})
      .Input("b", type, {1, 1})
      .Input("c", type, {1, 1})
      .Node("Gemm", {"a", "b", "c"}, {"y"})
      .Attr("alpha", alpha)
      .Attr("beta", beta)
      .Output("y");
}

TEST(NodeChecks, GemmOfIntegersTakesWholeFactors) {
  std::vector<HostTensor> inputs;
  for (int32_t value : {5, 7, 11}) {
    inputs.push_back(HostTensor::Of<int32_t>({1, 1}, {value}));
  }
  EXPECT_EQ(Gemm(Proto::INT32, 2, -1).Run(inputs), "i32[1, 1] 59");
  EXPECT_EQ(Gemm(Proto::INT32, 0.5f, 1).Run(),
            "Gemm (node n): found alpha 0.5 for matrices of i32; expected a "
            "factor of type i32");
  EXPECT_EQ(Gemm(Proto::INT32, 1, 1.5f).Run(),
            "Gemm (node n): found beta 1.5 for matrices of i32; expected a "
            "factor of type i32");
  EXPECT_EQ(Gemm(Proto::UINT32, -1, 1).Run(),
            "Gemm (node n): found alpha -1 for matrices of u32; expected a "
            "factor of type u32");
}

// As the standard's reference computes it with axis=().
TEST(NodeChecks, ReducingNoAxesLeavesWhatTheOpDoesToAnElement) {
  const auto reduced = [](const char* op) {
    return SketchedModel(18)
        .Input("x", Proto::FLOAT, {2})
        .Node(op, {"x"}, {"y"})
        .Attr("noop_with_empty_axes", int64_t{1})
        .Output("y")
        .Run(One(HostTensor::Of<float>({2}, {4, 0.25})));
  };
  EXPECT_EQ(reduced("ReduceSum"), "f32[2] 4 0.25");
  EXPECT_EQ(reduced("ReduceMean"), "f32[2] 4 0.25");
  EXPECT_EQ(reduced("ReduceMax"), "f32[2] 4 0.25");
  EXPECT_EQ(reduced("ReduceProd"), "f32[2] 4 0.25");
  EXPECT_EQ(reduced("ReduceSumSquare"), "f32[2] 16 0.0625");
  EXPECT_EQ(reduced("ReduceL1"), "f32[2] 4 0.25");
  EXPECT_EQ(reduced("ReduceL2"), "f32[2] 4 0.25");
  EXPECT_EQ(reduced("ReduceLogSum"), "f32[2] 1.3862944 -1.3862944");
  EXPECT_EQ(reduced("ReduceLogSumExp"), "f32[2] 4 0.25");
  const std::string magnitudes =
      SketchedModel(18)
          .Input("x", Proto::INT32, {2})
          .Ints("axes", {})
          .Node("ReduceL1", {"x", "axes"}, {"y"})
          .Attr("noop_with_empty_axes", int64_t{1})
          .Output("y")
          .Run(One(HostTensor::Of<int32_t>({2}, {-3, 2})));
  EXPECT_EQ(magnitudes, "i32[2] 3 2");
}

TEST(NodeChecks, AnAxisIsNamedOnce) {
  const auto with_axes = [](const char* op, std::vector<int64_t> axes) {
    return SketchedModel(11)
        .Input("x", Proto::FLOAT, {1, 2})
        .Node(op, {"x"}, {"y"})
        .Attr("axes", axes)
        .Output("y")
        .Run();
  };
  EXPECT_EQ(with_axes("Unsqueeze", {0, 0}),
            "Unsqueeze (node n): found axis 0 twice; expected each axis at "
            "most once");
  EXPECT_EQ(with_axes("Squeeze", {0, -2}),
            "Squeeze (node n): found axis 0 twice; expected each axis at most "
            "once");
  EXPECT_EQ(with_axes("ReduceSum", {1, -1}),
            "ReduceSum (node n): found axis 1 twice; expected each axis at "
            "most once");
  EXPECT_EQ(SketchedModel(13)
                .Input("x", Proto::FLOAT, {5})
                .Ints("starts", {0, 1})
                .Ints("ends", {4, 3})
                .Ints("axes", {0, 0})
                .Node("Slice", {"x", "starts", "ends", "axes"}, {"y"})
                .Output("y")
                .Run(),
            "Slice (node n): found axis 0 twice; expected each axis at most "
            "once");
}

std::string Split(int opset, int64_t extent, int outputs) {
  SketchedModel model(opset);
  std::vector<std::string> names;
  for (int i = 0; i < outputs; ++i) names.push_back(std::string(1, 'a' + i));
  model.Input("x", Proto::FLOAT, {extent}).Node("Split", {"x"}, names);
  if (opset >= 18) model.Attr("num_outputs", int64_t{outputs});
  for (const std::string& name : names) model.Output(name);
  return model.Run(One(HostTensor(TensorType{DType::kF32, {extent}, {}})));
}

TEST(NodeChecks, SplitsAreEvenButForTheLastFromOpset18) {
  EXPECT_EQ(Split(13, 4, 2), "f32[2] 0 0; f32[2] 0 0");
  EXPECT_EQ(Split(13, 5, 2),
            "Split (node n): found extent 5 for 2 outputs; expected an extent "
            "that they divide, or their sizes");
  EXPECT_EQ(Split(18, 5, 2), "f32[3] 0 0 0; f32[2] 0 0");
  EXPECT_EQ(Split(18, 5, 4),
            "Split (node n): found extent 5 for 4 outputs; expected parts of "
            "one size with a smaller one at the end, or their sizes");
}

SketchedModel Conv() {
  return SketchedModel(13)
      .Input("x", Proto::FLOAT, {1, 1, 5, 5})
      .Input("w", Proto::FLOAT, {1, 1, 3, 3})
      .Node("Conv", {"x", "w"}, {"y"})
      .Output("y");
}

TEST(NodeChecks, WindowsFitTheirWeightsAndBounds) {
  EXPECT_EQ(Conv().Attr("kernel_shape", std::vector<int64_t>{3, 1}).Run(),
            "Conv (node n): found kernel_shape [3, 1]; expected [3, 3], the "
            "extents of the weights");
  EXPECT_EQ(Conv().Attr("strides", std::vector<int64_t>{1, 0}).Run(),
            "Conv (node n): found strides 0; expected 1..1073741824");
  EXPECT_EQ(Conv().Attr("strides", std::vector<int64_t>{1, INT64_MAX}).Run(),
            "Conv (node n): found strides 9223372036854775807; expected "
            "1..1073741824");
  EXPECT_EQ(Conv().Attr("pads", std::vector<int64_t>{0, 0, -1, 0}).Run(),
            "Conv (node n): found pads -1; expected 0..1073741824");
}

SketchedModel Relu(int opset) {
  return SketchedModel(opset)
      .Input("x", Proto::FLOAT, {2, 3})
      .Node("Relu", {"x"}, {"y"});
}

TEST(NodeChecks, StaleShapesAreWarnedOfOrRefused) {
  const std::vector<HostTensor> zeros =
      One(HostTensor(TensorType{DType::kF32, {2, 3}, {}}));
  std::vector<std::string> warnings;
  const ImportOptions options = {
      .warn = [&](absl::string_view text) { warnings.emplace_back(text); }};
  EXPECT_EQ(Relu(13).Output("y", Proto::FLOAT, {-1, 3}).Run(zeros, options),
            "f32[2, 3] 0 0 0 0 0 0");
  EXPECT_TRUE(warnings.empty());
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{2, 4}, {6}, {}}) {
    EXPECT_EQ(Relu(13).Output("y", Proto::FLOAT, dims).Run(zeros, options),
              "f32[2, 3] 0 0 0 0 0 0");
  }
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_EQ(warnings[0],
            "output y (node n): found f32[2, 3]; expected f32[2, 4], as the "
            "model declares it; goes on with what the nodes compute");
  EXPECT_EQ(warnings[2],
            "output y (node n): found f32[2, 3]; expected f32[], as the model "
            "declares it; goes on with what the nodes compute");
  EXPECT_EQ(
      Relu(13).Output("y", Proto::FLOAT, {6}).Run({}, {.strict_types = true}),
      "output y (node n): found f32[2, 3]; expected f32[6], as the model "
      "declares it; fix the declaration or the node");
}

TEST(NodeChecks, StaleValuesBetweenNodesToo) {
  const std::vector<HostTensor> zeros =
      One(HostTensor(TensorType{DType::kF32, {2, 3}, {}}));
  const SketchedModel model = Relu(13)
                                  .Node("Neg", {"y"}, {"z"})
                                  .Value("y", Proto::FLOAT, {7, 3})
                                  .Output("z");
  std::string warned;
  EXPECT_EQ(model.Run(zeros, {.warn =
                                  [&](absl::string_view text) {
                                    warned += std::string(text);
                                  }}),
            "f32[2, 3] -0 -0 -0 -0 -0 -0");
  EXPECT_EQ(warned,
            "value y (node n): found f32[2, 3]; expected f32[7, 3], as the "
            "model declares it; goes on with what the nodes compute");
  EXPECT_EQ(model.Run(zeros, {.strict_types = true}),
            "value y (node n): found f32[2, 3]; expected f32[7, 3], as the "
            "model declares it; fix the declaration or the node");
}

TEST(NodeChecks, DeclaredElementTypesOfOutputsAgree) {
  EXPECT_EQ(Relu(13).Output("y", Proto::INT64, {2, 3}).Run(),
            "output y (node n): found f32[2, 3]; expected i64[2, 3], as the "
            "model declares it; fix the declaration or the node");
  EXPECT_EQ(Relu(13).Output("y", Proto::STRING, {2, 3}).Run(),
            "output y (node n): found f32[2, 3]; expected element type 8[2, "
            "3], as the model declares it; fix the declaration or the node");
}

TEST(NodeChecks, DeclaredExtentsAreNotBelowMinusOne) {
  EXPECT_EQ(Relu(13).Output("y", Proto::FLOAT, {2, -5}).Run(),
            "output y (node n): found [2, -5]; expected extents, or -1 or a "
            "name for one that is open");
  EXPECT_EQ(SketchedModel(13)
                .Input("x", Proto::FLOAT, {2, -5})
                .Node("Relu", {"x"}, {"y"})
                .Output("y")
                .Run(),
            "input x: found [2, -5]; expected extents, or -1 or a name for one "
            "that is open");
}

TEST(NodeChecks, OpsetsOfTheModelAndOfItsOps) {
  EXPECT_EQ(Relu(6).Output("y").Run(),
            "found opset 6; expected 7..28; convert the model");
  EXPECT_EQ(Relu(29).Output("y").Run(),
            "found opset 29; expected 7..28; convert the model");
  const auto gelu = [](int opset) {
    return SketchedModel(opset)
        .Input("x", Proto::FLOAT, {1})
        .Node("Gelu", {"x"}, {"y"})
        .Output("y")
        .Run(One(HostTensor(TensorType{DType::kF32, {1}, {}})));
  };
  EXPECT_EQ(
      gelu(19),
      "found 1 node whose op is not supported:\n"
      "  Gelu (node n), which came with opset 20, in a model of opset 19");
  EXPECT_EQ(gelu(20), "f32[1] 0");
}

std::string Normalised(int opset, const char* op, const Shape& scale,
                       const std::vector<float>& values, const Shape& x,
                       const std::vector<float>& xs, int64_t groups) {
  SketchedModel model(opset);
  model.Constant("s", Proto::FLOAT, HostTensor::Of<float>(scale, values))
      .Input("x", Proto::FLOAT, {x.begin(), x.end()});
  if (groups > 0) {
    model.Node(op, {"x", "s", "s"}, {"y"})
        .Attr("num_groups", groups)
        .Attr("epsilon", 0.0f);
  } else {
    model.Node(op, {"x", "s"}, {"y"}).Attr("epsilon", 0.0f);
  }
  return model.Output("y").Run(One(HostTensor::Of<float>(x, xs)));
}

// Each pair is a group, of -1 and 1.
TEST(NodeChecks, GroupsHaveAScaleEachUntilOpset20AndChannelsSince) {
  const std::vector<float> xs = {1, 3, 5, 9};
  EXPECT_EQ(
      Normalised(18, "GroupNormalization", {2}, {1, 10}, {1, 4, 1}, xs, 2),
      "f32[1, 4, 1] 0 2 0 20");
  EXPECT_EQ(Normalised(21, "GroupNormalization", {4}, {1, 2, 3, 10}, {1, 4, 1},
                       xs, 2),
            "f32[1, 4, 1] 0 4 0 20");
  EXPECT_EQ(Normalised(21, "GroupNormalization", {2}, {1, 10}, {1, 4, 1}, xs, 2)
                .find("GroupNormalization (node n): "),
            0u);
}

TEST(NodeChecks, ALayerNormsScaleBroadcasts) {
  const std::vector<float> xs = {1, 3, 9, 5};
  const auto with = [&](const Shape& scale, const std::vector<float>& values) {
    return Normalised(17, "LayerNormalization", scale, values, {2, 2}, xs, 0);
  };
  EXPECT_EQ(with({1}, {10}), "f32[2, 2] -10 10 10 -10");
  EXPECT_EQ(with({}, {10}), "f32[2, 2] -10 10 10 -10");
  EXPECT_EQ(with({1, 2}, {1, 2}), "f32[2, 2] -1 2 1 -2");
  EXPECT_EQ(with({2, 1}, {1, 2}), "f32[2, 2] -1 1 2 -2");
  EXPECT_EQ(with({3}, {1, 2, 3}),
            "LayerNormalization (node n): found input 1 f32[3]; expected "
            "extents that broadcast to f32[2, 2]");
}

TEST(NodeChecks, BlocksBecomeOuterOrInnerChannels) {
  const auto with = [](const std::string& mode) {
    HostTensor x(TensorType{DType::kF32, {1, 2, 2, 2}, {}});
    for (int i = 0; i < 8; ++i) SetNumber(x, i, Number(i));
    return SketchedModel(28)
        .Input("x", Proto::FLOAT, {1, 2, 2, 2})
        .Node("SpaceToDepth", {"x"}, {"y"})
        .Attr("blocksize", int64_t{2})
        .Attr("mode", mode)
        .Output("y")
        .Run(One(std::move(x)));
  };
  EXPECT_EQ(with("DCR"), "f32[1, 8, 1, 1] 0 4 1 5 2 6 3 7");
  EXPECT_EQ(with("CRD"), "f32[1, 8, 1, 1] 0 1 2 3 4 5 6 7");
  EXPECT_EQ(with("RCD"),
            "SpaceToDepth (node n): found mode \"RCD\"; expected DCR, CRD");
}

SketchedModel Resize(const std::vector<int64_t>& sizes) {
  return SketchedModel(19)
      .Ints("sizes", sizes)
      .Input("x", Proto::FLOAT, {1, 2, 4})
      .Node("Resize", {"x", "", "", "sizes"}, {"y"});
}

TEST(NodeChecks, ResizeOfSomeAxes) {
  const auto run = [](SketchedModel model) {
    HostTensor x(TensorType{DType::kF32, {1, 2, 4}, {}});
    for (int i = 0; i < 8; ++i) SetNumber(x, i, Number(i));
    return model.Output("y").Run(One(std::move(x)));
  };
  EXPECT_EQ(run(Resize({2}).Attr("axes", std::vector<int64_t>{-1})),
            "f32[1, 2, 2] 0 2 4 6");
  EXPECT_EQ(run(Resize({2, 1}).Attr("axes", std::vector<int64_t>{2, 1})),
            "f32[1, 1, 2] 0 2");
  EXPECT_EQ(run(Resize({2, 1})), "Resize (node n): found 2 sizes; expected 3");
  EXPECT_EQ(run(Resize({2, 2}).Attr("axes", std::vector<int64_t>{2, -1})),
            "Resize (node n): found axis 2 twice; expected each axis at most "
            "once");
  const auto kept = [&](const std::string& policy) {
    return run(Resize({2, 2})
                   .Attr("axes", std::vector<int64_t>{1, 2})
                   .Attr("keep_aspect_ratio_policy", policy));
  };
  EXPECT_EQ(kept("not_larger"), "f32[1, 1, 2] 0 2");
  EXPECT_EQ(kept("not_smaller"), "f32[1, 2, 4] 0 1 2 3 4 5 6 7");
  EXPECT_EQ(run(Resize({1, 2, 2})
                    .Attr("mode", std::string("linear"))
                    .Attr("antialias", int64_t{1})),
            "f32[1, 2, 2] 0.625 2.375 4.625 6.375");
  EXPECT_EQ(run(Resize({1, 2, 8})
                    .Attr("mode", std::string("linear"))
                    .Attr("antialias", int64_t{1})),
            run(Resize({1, 2, 8}).Attr("mode", std::string("linear"))));
}

TEST(NodeChecks, WordsAreThoseOfTheStandard) {
  EXPECT_EQ(SketchedModel(20)
                .Input("x", Proto::FLOAT, {1})
                .Node("Gelu", {"x"}, {"y"})
                .Attr("approximate", std::string("erf"))
                .Output("y")
                .Run(),
            "Gelu (node n): found approximate \"erf\"; expected none, tanh");
}

}  // namespace
}  // namespace partita
