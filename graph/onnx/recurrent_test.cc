// Exact messages of refusals of LSTM, GRU and RNN, and data-dependent lengths.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Proto = onnx::TensorProto;
using Dims = std::vector<int64_t>;

// Three steps of two rows with one input, and two units.
struct Sketch {
  std::string op = "LSTM";
  Dims w = {1, 8, 1};
  Dims r = {1, 8, 2};
  Dims b = {1, 16};
  Dims h = {1, 2, 2};
  std::vector<int64_t> lengths;  // empty: an input
};

SketchedModel Model(const Sketch& s = {}) {
  SketchedModel model(14);
  model.Input("x", Proto::FLOAT, {3, 2, 1})
      .Input("w", Proto::FLOAT, s.w)
      .Input("r", Proto::FLOAT, s.r)
      .Input("b", Proto::FLOAT, s.b)
      .Input("h", Proto::FLOAT, s.h);
  if (s.lengths.empty()) {
    model.Input("l", Proto::INT32, {2});
  } else {
    std::vector<int32_t> lengths(s.lengths.begin(), s.lengths.end());
    model.Constant("l", Proto::INT32, HostTensor::Of<int32_t>({2}, lengths));
  }
  model.Node(s.op, {"x", "w", "r", "b", "l", "h"}, {"y", "last"});
  return model.Output("y").Output("last");
}

std::string Refusal(const Sketch& sketch) { return Model(sketch).Run(); }

TEST(RecurrentImport, WrongExtentsAreRefused) {
  EXPECT_EQ(Refusal({.w = {1, 8, 2}}),
            "LSTM (node n): found W f32[1, 8, 2]; expected extents [1, 8, 1]: "
            "directions, gates, inputs");
  EXPECT_EQ(Refusal({.op = "GRU"}),
            "GRU (node n): found W f32[1, 8, 1]; expected extents [1, 6, 1]: "
            "directions, gates, inputs");
  EXPECT_EQ(Refusal({.r = {1, 7, 2}}),
            "LSTM (node n): found R f32[1, 7, 2]; expected extents [1, 8, 2]: "
            "directions, gates, units");
  EXPECT_EQ(Refusal({.r = {8, 2}}),
            "LSTM (node n): found R f32[8, 2]; expected three dimensions");
  EXPECT_EQ(Refusal({.b = {1, 8}}),
            "LSTM (node n): found B f32[1, 8]; expected extents [1, 16]: "
            "directions, two for each gate");
  EXPECT_EQ(Refusal({.h = {1, 3, 2}}),
            "LSTM (node n): found initial_h f32[1, 3, 2]; expected extents "
            "[1, 2, 2]: directions, batch, units");
  EXPECT_EQ(Model().Attr("hidden_size", int64_t{3}).Run(),
            "LSTM (node n): found hidden_size 3; expected 2, as R f32[1, 8, "
            "2] has it");
  EXPECT_EQ(Model().Attr("direction", std::string("bidirectional")).Run(),
            "LSTM (node n): found W f32[1, 8, 1]; expected extents [2, 8, 1]: "
            "directions, gates, inputs");
}

TEST(RecurrentImport, WrongAttributesAreRefused) {
  EXPECT_EQ(Model().Attr("direction", std::string("backward")).Run(),
            "LSTM (node n): found direction \"backward\"; expected forward, "
            "reverse, bidirectional");
  EXPECT_EQ(Model().Attr("layout", int64_t{2}).Run(),
            "LSTM (node n): found layout 2; expected 0 or 1");
  EXPECT_EQ(Model().Attr("clip", 0.0f).Run(),
            "LSTM (node n): found clip 0; expected more than 0; leave it out "
            "for no bound");
}

TEST(RecurrentImport, ActivationsAreOfTheStandardAndComplete) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(Model().Attr("activations", Words{"Sigmoid", "Tanh", "Gelu"}).Run(),
            "LSTM (node n): found activation \"Gelu\"; expected Affine, Elu, "
            "HardSigmoid, LeakyRelu, Relu, ScaledTanh, Sigmoid, Softplus, "
            "Softsign, Tanh or ThresholdedRelu");
  EXPECT_EQ(Model().Attr("activations", Words{"Sigmoid", "Tanh"}).Run(),
            "LSTM (node n): found 2 activations; expected 3, 3 for each "
            "direction");
  const Words affine = {"Sigmoid", "Affine", "Tanh"};
  EXPECT_EQ(Model().Attr("activations", affine).Run(),
            "LSTM (node n): found Affine without activation_alpha and "
            "activation_beta; expected a number in each");
  EXPECT_EQ(Model()
                .Attr("activations", affine)
                .Attr("activation_alpha", std::vector<float>{1, 2})
                .Attr("activation_beta", std::vector<float>{1})
                .Run(),
            "LSTM (node n): found 2 activation_alpha; expected at most 1: one "
            "for each activation that takes one");
}

TEST(RecurrentImport, KnownLengthsAreComparedWithTheSteps) {
  EXPECT_EQ(Refusal({.lengths = {3, 4}}),
            "LSTM (node n): found length 4 of row 1 in sequence_lens; "
            "expected 0..3, the steps of X");
  EXPECT_EQ(Refusal({.lengths = {-1, 3}}),
            "LSTM (node n): found length -1 of row 0 in sequence_lens; "
            "expected 0..3, the steps of X");
}

// A sum of inputs: one unit, whose weights are 1.
SketchedModel Sum() {
  return SketchedModel(14)
      .Input("x", Proto::FLOAT, {3, 2, 1})
      .Input("l", Proto::INT32, {2})
      .Input("h", Proto::FLOAT, {1, 2, 1})
      .Constant("w", Proto::FLOAT, HostTensor::Of<float>({1, 1, 1}, {1}))
      .Node("RNN", {"x", "w", "w", "", "l", "h"}, {"y", "last"})
      .Attr("activations", std::vector<std::string>{"relu"})
      .Output("last");
}

std::vector<HostTensor> SumInputs(const std::vector<int32_t>& lengths) {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({3, 2, 1}, {1, 2, 3, 4, 5, 6}));
  inputs.push_back(HostTensor::Of<int32_t>({2}, lengths));
  inputs.push_back(HostTensor::Of<float>({1, 2, 1}, {10, 20}));
  return inputs;
}

// A row without steps ends in its initial state; the standard does not say.
TEST(RecurrentImport, LengthsOfDataAreFollowedOrRefused) {
  EXPECT_EQ(Sum().Run(SumInputs({2, 0})), "f32[1, 2, 1] 14 20");
  EXPECT_EQ(Sum().Run(SumInputs({2, 4})),
            "while evaluating rnn %8: n: rnn %8: found length 4 of row 1; "
            "expected 0..3; correct the lengths");
}

}  // namespace
}  // namespace partita
